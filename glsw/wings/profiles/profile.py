"""`Profile`: a query with position-specific scores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw.inputs.source import Single, Source
from glsw.scoring.gaps import PositionalGaps
from glsw.scoring.matrices import MAX_UNITS
from glsw.scoring.positional import PositionalQuery, PositionalScoring
from glsw.scoring.scoring import Scoring
from glsw.sequences.nucleic import complement_of
from glsw.sequences.query import QueryPreparation
from glsw.sequences.records import ProfileRecord, Record
from glsw.sequences.seg import Masked
from glsw.wings.profiles import text
from glsw.wings.profiles.alignment import rows_of, scores_of_alignment
from glsw.wings.profiles.background import Gaps, check_gaps
from glsw.wings.profiles.files import read_profile
from glsw.wings.profiles.text import Parts


@dataclass(frozen=True, eq=False)
class Profile(PositionalQuery):
    """Scores of each letter at each position of a query, in place of a substitution matrix.

    A profile, or a list of profiles, can be the query of `glsw.search`, `glsw.score` and
    `glsw.align`, and of the methods of `glsw.Aligner` with these names. Its scores and gap costs
    replace those of the aligner; the aligner's mode, masks and engine apply.

    Parameters
    ----------
    scores : ndarray of int, shape (m, A)
        Score of each position with each letter of the alphabet of ``scoring``, in integer units of
        ``scoring``, see `Scoring.scale`.
    letters : str
        The sequence that represents the profile in results: m letters, such as the consensus.
        Identities are counted with these letters.
    scoring : Scoring
        The matrix on which the scores are based, and the gap costs. As in PSI-BLAST, bit scores and
        E-values use the constants of this matrix and these costs, so the scores should have its
        scale, i.e. its ungapped lambda (`from_alignment` and PSI-BLAST rescale them; K is not
        adapted to the profile). Letters are similar if they score above 0 in this matrix.
    id, description : str
        As in `glsw.Record`.
    gap_open, gap_extend : ndarray of int, shape (m,), optional
        Gap costs by position, positive numbers in integer units, for the first and for each further
        position of a gap; by default those of ``scoring``. A gap in the target that skips positions
        i ... k costs ``gap_open[i]`` plus ``gap_extend`` at positions i + 1 ... k. A gap in the
        profile, target letters after position i, costs ``gap_open[i]`` plus ``gap_extend[i]`` for
        each further letter (Gribskov et al. 1987, PNAS 84:4355). In global and semi-global
        alignments, letters before the first position cost what they would cost after it; end gaps
        that are not free cost as much as others. E-values are computed with the costs of
        ``scoring``.

    Raises
    ------
    TypeError, ValueError
        If scores or costs are not integers or have the wrong shape, opening a gap costs less than
        extending it, or the scoring is not local (the aligner sets the mode).

    Examples
    --------
    >>> import glsw
    >>> profile = glsw.Profile.from_sequence("HEAGAWGHEE")
    >>> len(profile), profile.scores.shape
    (10, (10, 24))
    >>> aligner = glsw.Aligner(engine="reference")
    >>> aligner.score(profile, "PAWHEAE"), aligner.score("HEAGAWGHEE", "PAWHEAE")
    (17, 17)
    >>> family = glsw.Profile.from_alignment(["HEAGAWGHEE", "HEA-AWGQED", "HDAGSWPHE-"])
    >>> aligner.score(family, "PAWHEAE")
    16
    >>> costs = np.full(10, 12)
    >>> costs[4:6] = 3
    >>> cheap = replace(profile, gap_open=costs, gap_extend=np.ones(10, int))
    >>> aligner.align(cheap, "HEAGAGHEE").cigar, aligner.score(cheap, "HEAGAGHEE")
    ('5=1I4=', 48)
    """

    scores: npt.NDArray[np.int32]
    letters: str
    scoring: Scoring
    id: str = "profile"
    description: str = ""
    gap_open: npt.NDArray[np.int32] | None = None
    gap_extend: npt.NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.scoring, Scoring) or self.scoring.wide_queries:
            raise TypeError(f"scoring must be a Scoring, not {type(self.scoring).__name__}")
        if not self.scoring.local:
            raise ValueError("the scoring of a profile must be local: the aligner sets the mode")
        given = np.asarray(self.scores)
        if given.dtype.kind not in "iu":
            raise TypeError(f"scores must be integers, got {given.dtype}")
        alphabet = self.scoring.alphabet
        m = len(self.letters) // alphabet.width
        if given.shape != (m, len(alphabet)):
            raise ValueError(
                f"scores have shape {given.shape}, {m} letters and the {alphabet.name} alphabet "
                f"need ({m}, {len(alphabet)})"
            )
        largest = max(int(given.max(initial=0)), -int(given.min(initial=0)))
        if largest > MAX_UNITS:
            raise ValueError(f"a score of size {largest} is more than {MAX_UNITS}")
        alphabet.encode(self.letters, name=self.id, unknown=alphabet.wildcard)
        scores = np.array(given, np.int32, order="C")
        scores.setflags(write=False)
        object.__setattr__(self, "scores", scores)
        self._check_gaps()

    def _check_gaps(self) -> None:
        """Check gap costs by position; those that are not given are the scoring's."""
        if self.gap_open is None and self.gap_extend is None:
            return
        if self.scoring.separate:
            raise ValueError("gap costs by position apply to insertions and deletions alike")
        for word in ("gap_open", "gap_extend"):
            given = getattr(self, word)
            if given is None:
                given = np.full(len(self), getattr(self.scoring, word))
            if np.shape(given) != (len(self),):
                raise ValueError(f"{word} has shape {np.shape(given)}, not ({len(self)},)")
            object.__setattr__(self, word, given)
        gaps = PositionalGaps(self.gap_open, self.gap_extend)  # type: ignore[arg-type]
        object.__setattr__(self, "gap_open", gaps.opens)
        object.__setattr__(self, "gap_extend", gaps.extends)

    def with_gaps(self, gaps: PositionalGaps | None) -> Profile:
        """Return the profile with other gap costs by position, or with those of the scoring."""
        if gaps is None:
            return replace(self, gap_open=None, gap_extend=None)
        return replace(self, gap_open=gaps.opens, gap_extend=gaps.extends)

    @property
    def costs(self) -> PositionalGaps:
        """Gap costs by position; by default those of the scoring at all positions."""
        if self.gap_open is None or self.gap_extend is None:
            every = np.ones(len(self), np.int32)
            return PositionalGaps(every * self.scoring.gap_open, every * self.scoring.gap_extend)
        return PositionalGaps(self.gap_open, self.gap_extend)

    @classmethod
    def from_sequence(cls, sequence: Single, scoring: Scoring | None = None) -> Profile:
        """Return the profile with the scores of one sequence: its results equal the sequence's.

        Parameters
        ----------
        sequence : str, Seq, SeqRecord, Record or array of codes
        scoring : Scoring, optional
            ``Scoring.blast()`` unless given.
        """
        scoring = scoring or Scoring.blast()
        (record,) = Source(sequence).records(what="profile", alphabet=scoring.alphabet)
        codes = scoring.alphabet.encode(record.letters, name=record.id)
        return cls(scoring.matrix[codes], record.letters, scoring, record.id, record.description)

    @classmethod
    def from_alignment(
        cls,
        alignment: Any,
        scoring: Scoring | None = None,
        *,
        query: int | None = 0,
        id: str | None = None,  # noqa: A002
        gaps: Gaps = "fixed",
    ) -> Profile:
        """Return the profile of a multiple alignment, with sequence weights and pseudocounts.

        Scores are computed as published for PSI-BLAST (Altschul et al. 1997 and 2009; Schaffer et
        al. 2001), see `position_scores`. A row with gaps at its end does not cover these columns.

        Parameters
        ----------
        alignment : Bio.Align.MultipleSeqAlignment, Bio.Align.Alignment, or list of str
            Rows of letters and gaps.
        scoring : Scoring, optional
            ``Scoring.blast()`` unless given.
        query : int or None
            The row whose residues are the positions of the profile; None for the columns where at
            least half of the rows have residues.
        id : str, optional
            Name of the profile; by default the name of the query's row.
        gaps : {"fixed", "positional"}
            "positional": gaps cost less at positions where rows of the alignment open gaps, and
            more elsewhere, see `glsw.wings.profiles.background.gaps_from_frequencies`.

        Raises
        ------
        TypeError, ValueError
            If the rows do not fit together or have letters outside the alphabet; if no local
            statistics exist for the scoring.
        """
        scoring = scoring or Scoring.blast()
        if scoring.alphabet.width != 1:
            raise ValueError(f"an alignment of single letters, not of {scoring.alphabet.name}")
        check_gaps(gaps)
        rows = rows_of(alignment)
        scores, letters, costs = scores_of_alignment(rows, query, scoring, gaps)
        name = id if id is not None else "profile" if query is None else rows[query][0]
        return cls(scores, letters, scoring, name).with_gaps(costs)

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        scoring: Scoring | None = None,
        *,
        gaps: Gaps = "fixed",
    ) -> Profile:
        """Return the profile of a file, whose format is detected automatically.

        Formats: files of `write`; PSI-BLAST's ``-out_ascii_pssm`` and ``-out_pssm`` (ASN.1 text);
        HMMER3 models, whose match emissions become scores, while the rest is ignored; an alignment
        (Stockholm, Clustal, FASTA with gaps), whose first row is the query.

        Parameters
        ----------
        path : str or path
        scoring : Scoring, optional
            Matrix and gap costs. By default those of the file; if it names none,
            ``Scoring.blast()``, or ``Scoring.nucleotide()`` for models of DNA.
        gaps : {"fixed", "positional"}
            "positional": gap costs by position, from an alignment as in `from_alignment`, from a
            HMMER3 model by its transitions, see
            `glsw.wings.profiles.background.gaps_from_transitions`. Files of `write` keep their own
            costs in any case.

        Raises
        ------
        OSError
            If the file cannot be read.
        ValueError
            If the format is unknown or invalid, naming file and line; if gap costs by position are
            requested for a PSI-BLAST file, which has none.
        """
        check_gaps(gaps)
        found = read_profile(Path(path), scoring, gaps)
        try:
            if isinstance(found, Parts):
                return cls(*found)
            return cls.from_alignment(found, scoring, gaps=gaps)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the profile as text, which `read` restores exactly."""
        Path(path).write_text(self.to_text(), encoding="utf-8")

    def to_text(self) -> str:
        """Return the text that `write` writes."""
        return text.written(Parts(*(getattr(self, name) for name in Parts._fields)))

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"<Profile {self.id}: {len(self)} positions, {self.scoring.name}>"

    def masked(self, letters: str) -> Profile:
        """Return the profile with other ``letters``; lower-case ones are masked.

        Masked positions score like the wildcard, X or N, and keep their gap costs.

        Raises
        ------
        ValueError
            If the alphabet has no wildcard.
        """
        alphabet = self.scoring.alphabet
        alphabet.lower_case_masked()  # raises an error
        lower = np.array([letter.islower() for letter in letters], bool)
        scores = self.scores.copy()
        scores[lower] = self.scoring.matrix[alphabet.encode(alphabet.wildcard or "")]
        return replace(self, scores=scores, letters=letters)

    @classmethod
    def by_position(
        cls,
        queries: Sequence[Profile],
        lower_case_mask: bool = False,
        mask_low_complexity: bool = False,
        seg: Masked = "no",
    ) -> tuple[PositionalScoring, list[ProfileRecord]]:
        """Return the scoring of the positions of all profiles, and their records.

        Profiles of DNA have positions for both strands. A position has the same gap costs on both:
        an insertion after it on the minus strand is one before it on the plus strand.

        Parameters, errors
            As of `glsw.scoring.positional.PositionalQuery.by_position`.
        """
        scoring = queries[0].scoring
        if not all(_same(scoring, each.scoring) for each in queries):
            raise ValueError(
                "profiles of one search have the same matrix and gap costs; search others "
                "separately"
            )
        alphabet = scoring.alphabet
        preparation = QueryPreparation(
            *(alphabet, "plus", None, lower_case_mask, mask_low_complexity),
            seg=seg in ("query", "both"),
        )
        rows, records, first = [], [], 0
        some = any(each.gap_open is not None for each in queries)
        gaps: list[PositionalGaps] = []
        for profile in queries:
            shown = profile
            if preparation.masks:
                shown = profile.masked(*preparation.soft_masked([profile.letters]))
            strands = {1: shown.scores}
            if alphabet.nucleotides:
                turned = alphabet.encode(complement_of(alphabet.decode(range(len(alphabet)))))
                strands[-1] = shown.scores[::-1][:, turned]
            positions = {}
            for sign, scores in strands.items():
                rows.append(scores)
                if some:
                    gaps.append(shown.costs if sign > 0 else shown.costs.turned())
                positions[sign] = np.arange(first, first + len(scores)).astype(np.uint16)
                first += len(scores)
            record = Record(profile.id, profile.description, shown.letters)
            records.append(ProfileRecord.at(record, alphabet, positions))
        joined = PositionalGaps.joined(gaps) if some else None
        return PositionalScoring.of(np.concatenate(rows), scoring, joined), records


def _same(scoring: Scoring, other: Scoring) -> bool:
    def settings(each: Scoring) -> tuple[Any, ...]:
        return each.alphabet, each.insertion, each.deletion, each.scale

    alike = settings(scoring) == settings(other)
    return alike and np.array_equal(scoring.matrix, other.matrix)
