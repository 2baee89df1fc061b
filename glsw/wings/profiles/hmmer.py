"""Reader of HMMER3's profile hidden Markov models: the emissions of their match states."""

from __future__ import annotations

import numpy as np

from glsw.scoring.scoring import Scoring
from glsw.wings.profiles.background import Background, Gaps, gaps_from_transitions, letters_of
from glsw.wings.profiles.text import Parts

BEGINS = "HMMER3/"
_KINDS = {"amino": True, "dna": False, "rna": False}
_LINES_OF_NODE, _TRANSITIONS = 3, 7
_NULL = {
    **{"A": 0.0787945, "C": 0.0151600, "D": 0.0535222, "E": 0.0668298, "F": 0.0397062},
    **{"G": 0.0695071, "H": 0.0229198, "I": 0.0590092, "K": 0.0594422, "L": 0.0963728},
    **{"M": 0.0237718, "N": 0.0414386, "P": 0.0482904, "Q": 0.0395639, "R": 0.0540978},
    **{"S": 0.0683364, "T": 0.0540687, "V": 0.0673417, "W": 0.0114135, "Y": 0.0304133},
}
"""HMMER3's null model of amino acids, the frequencies in Swiss-Prot 50.8 (p7_AminoFrequencies)."""


def read_hmm(text: str, path: str, scoring: Scoring | None, gaps: Gaps = "fixed") -> Parts:
    """Return the profile of the first model of a file of HMMER3.

    A score is the log-odds of an emission of a match state and HMMER's null model, in units of the
    matrix. Left out: emissions of insertions, all transitions (gaps have the costs of ``scoring``,
    BLOSUM62 11/1 unless given, at every position; ``gaps`` "positional" derives them from the
    transitions, see `gaps_from_transitions`), the length model and the bias
    correction, so that scores and E-values are not those of HMMER. Other letters are as in
    `Background.complete`.

    Raises
    ------
    ValueError
        If the file has another form, or letters of another kind, naming file and line.
    """
    lines = text.rstrip().splitlines()
    if lines[-1] != "//":
        raise ValueError(f"{path}: cut off: no line // at its end")
    if (models := sum(line.startswith(BEGINS) for line in lines)) > 1:
        raise ValueError(f"{path}: {models} models, one expected")
    start = next((k for k, line in enumerate(lines) if line.startswith("HMM ")), None)
    if start is None:
        raise ValueError(f"{path}: no line HMM with the letters of the model")
    head = {key: rest.strip() for key, _, rest in (each.partition(" ") for each in lines[:start])}
    kind = head.get("ALPH", "").lower()
    if kind not in _KINDS:
        raise ValueError(f"{path}: a model of {kind or 'unknown letters'}; amino, DNA or RNA")
    if scoring is None:
        scoring = Scoring.blast() if _KINDS[kind] else Scoring.nucleotide()
    names = "".join(lines[start].split()[1:])
    if kind == "rna" and "T" in scoring.alphabet.letters:
        names = names.replace("U", "T")
    columns = letters_of(scoring.alphabet, names)
    null = np.array([_NULL.get(name, 0) if _KINDS[kind] else 1 / len(names) for name in names])
    at = start + 2
    if at < len(lines) and lines[at].split()[:1] == ["COMPO"]:
        at += 1
    at += 2  # the insertions and transitions before the first node
    emissions: list[list[float]] = []
    transitions = [_transitions(lines, at - 1, path)]
    residues = ""
    while not lines[at].startswith("//"):
        words = lines[at].split()
        try:
            row = [float("inf") if word == "*" else float(word) for word in words[1:][: len(names)]]
        except ValueError:
            row = []
        if words[:1] != [str(len(emissions) + 1)] or len(row) != len(names):
            raise ValueError(
                f"{path}:{at + 1}: node {len(emissions) + 1} and {len(names)} emissions expected, "
                f"got {lines[at].strip()[:60]!r}"
            )
        emissions.append(row)
        transitions.append(_transitions(lines, at + 2, path))
        shown = words[len(names) + 2] if len(words) > len(names) + 2 else "-"
        residues += shown if shown.isalpha() else names[int(np.argmin(row))]
        at += _LINES_OF_NODE
    if not emissions or str(len(emissions)) != head.get("LENG"):
        length = head.get("LENG", "none")
        raise ValueError(f"{path}: {len(emissions)} nodes, its line LENG says {length}")
    background = Background(scoring)
    ratios = (np.exp(-np.array(emissions)) / null)[:, columns]
    scores = np.rint(background.in_units(ratios)).astype(np.int32)
    name, about = head.get("NAME", ""), head.get("DESC", "")
    residues = residues.upper().replace("U", "T") if kind == "rna" else residues.upper()
    parts = Parts(background.complete(scores, residues), residues, scoring, name, about)
    if gaps == "fixed":
        return parts
    costs = gaps_from_transitions(np.array(transitions), background)
    return parts._replace(gap_open=costs.opens, gap_extend=costs.extends)


def _transitions(lines: list[str], at: int, path: str) -> list[float]:
    """Return the negative logarithms of the seven transitions of a node."""
    words = lines[at].split() if at < len(lines) else []
    try:
        found = [float("inf") if word == "*" else float(word) for word in words]
    except ValueError:
        found = []
    if len(found) != _TRANSITIONS:
        raise ValueError(f"{path}:{at + 1}: {_TRANSITIONS} transitions expected")
    return found
