"""Every verb, command and format counts the columns of a pair alike, under every option of input.

The judge counts the letters of the rows that an alignment shows.
"""

from __future__ import annotations

import csv
import json
import random
import re
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pytest
from subtests import with_subtests
from wing import of_wing, wing

import glsw
from glsw import Scoring
from glsw.cli import main
from glsw.scoring.gaps import FREE
from glsw.sequences.nucleic import reversed_strand
from glsw.sequences.tracks import interleaved

AMINO, STATES = "ARNDCQEGHILKMFPSTWYV", "ACDEFGHIKLMNPQRSTVWYX"
CODONS = "GCTCGTAATGATTGTCAAGAAGGTCATATTCTTAAAATGTTTCCTTCTACTTGGTATGTT"  # of these
SIDES = "query", "target"
COUNTS = "columns", "identities", "positives", "gaps"
PLACES = "query_start", "query_end", "target_start", "target_end"
OVER = "columns", "inner", "pairs", "shorter", "longer", "query", "target"
BLAST = (
    "sseqid length nident pident positive ppos mismatch gapopen gaps qstart qend sstart send "
    "qcovhsp btop"
)


class Case(NamedTuple):
    """Options of input, in Python and on the command line, and how to make sequences."""

    name: str
    letters: str
    options: dict[str, Any]
    words: str | None = None  # None: the command line has no such option
    others: str = ""  # letters that are put in here and there
    count: int = 3

    @property
    def scoring(self) -> Scoring:
        usual = Scoring.nucleotide() if self.letters == "ACGT" else Scoring.blast()
        scoring = self.options.get("scoring", usual)
        return scoring.in_mode(self.options["mode"]) if "mode" in self.options else scoring


def protein(name: str, words: str | None = "", others: str = "UOJ", **options: Any) -> Case:
    return Case(name, AMINO, options, words, others)


def dna(name: str, words: str | None = "", others: str = "NR", **options: Any) -> Case:
    return Case(name, "ACGT", {"scoring": Scoring.nucleotide()} | options, words, others)


def free(ends: Any) -> Scoring:
    return Scoring.blast().in_mode("semiglobal", free=ends)


LOWER = {"lower_case_mask": True}
CASES = [
    protein("protein"),
    protein("lower case", "--lower-case-mask", **LOWER),
    protein("seg query", "--seg query", seg="query"),
    protein("seg target", "--seg target", seg="target"),
    protein("seg, lower case", "--seg both --lower-case-mask", seg="both", **LOWER),
    protein("tantan", "--mask-low-complexity", mask_low_complexity=True),
    protein("unknown X", "--unknown X", "UOJ?!", unknown="X"),
    protein("unknown A, lower case", "--unknown A --lower-case-mask", "U?!", unknown="A", **LOWER),
    protein("global", "--mode global --lower-case-mask", mode="global", **LOWER),
    protein("semi-global", "--mode semiglobal --lower-case-mask", mode="semiglobal", **LOWER),
    protein("query within", None, scoring=free("target"), **LOWER),
    protein("target within", None, scoring=free("query"), seg="both"),
    dna("DNA"),
    dna("DUST", "--mask-low-complexity --lower-case-mask", mask_low_complexity=True, **LOWER),
    dna("unknown N", None, "N?", unknown="N", mode="semiglobal"),
    dna("semi-global DNA", "--mode semiglobal", mode="semiglobal"),
    Case("codons", "ACGT", {"scoring": Scoring.named("SCHNEIDER", 10, 5)}),
]
TRANSLATED = [
    ("blastx", {"genetic_code": 1}, "--translated"),
    ("tblastn", {"target_genetic_code": 1}, "--translated-target"),
    ("tblastx", {"genetic_code": 1, "target_genetic_code": 1}, "--translated --translated-target"),
]


def sequences(case: Case, seed: int = 5) -> tuple[list[str], list[str]]:
    """Queries, and for each a changed copy between other letters."""
    choose = random.Random(seed)
    queries, targets = [], []

    def word(length: int) -> str:
        return "".join(choose.choices(case.letters, k=length))

    for _ in range(case.count):
        repeat = case.letters[2] * 9 + case.letters[0] + case.letters[2] * 6
        query = word(21) + repeat + word(24)
        target = list(query)
        for at in choose.sample(range(len(target)), 9):
            target[at] = choose.choice(case.letters)
        del target[12:15]
        target[33:33] = word(3)
        both = [query, word(choose.choice([0, 6])) + "".join(target) + word(9)]
        for k, text in enumerate(both):
            made = list(text)
            for at in choose.sample(range(3, 60), 9 if case.others else 0):
                made[at] = choose.choice(case.others)
            for at in choose.sample(range(50), 3):
                made[at : at + 5] = "".join(made[at : at + 5]).lower()
            both[k] = "".join(made)
        if case.name == "codons":
            both = [each[: len(each) // 3 * 3] for each in both]
            both[0] = both[0].upper().replace("T", "U")
        queries.append(both[0])
        targets.append(both[1])
    return queries, targets


def judged(rows: tuple[str, str, str], scoring: Scoring, unknown: str | None) -> dict[str, Any]:
    """Count the columns of the rows that are shown, letter by letter."""
    alphabet, width = scoring.alphabet, scoring.alphabet.width

    def residues(text: str) -> list[str]:
        return [text[k : k + width].upper() for k in range(0, len(text), width)]

    def spelled(letter: str) -> str:
        if letter in alphabet.substitutes:
            return letter
        return alphabet.decode(alphabet.encode(letter, unknown=unknown))

    kinds, positives = "", 0
    for q, t in zip(residues(rows[0]), residues(rows[2]), strict=True):
        if "-" in q + t:
            kinds += "D" if "-" in q else "I"
            continue
        kinds += "=" if spelled(q) == spelled(t) else "X"
        codes = [alphabet.encode(each, unknown=unknown)[0] for each in (q, t)]
        positives += int(scoring.matrix[codes[0], codes[1]] > 0)
    runs = ["".join(run) for _, run in groupby(kinds)]
    return {
        "columns": len(kinds),
        "identities": kinds.count("="),
        "positives": positives,
        "gaps": kinds.count("I") + kinds.count("D"),
        "cigar": "".join(f"{len(run)}{run[0]}" for run in runs),
        "kinds": kinds,
    }


def facts(found: Any) -> dict[str, Any]:
    """What an alignment says of itself."""
    return {
        **{name: getattr(found, name) for name in (*COUNTS, *PLACES, "cigar", "score")},
        "rows": found.rows(),
        "identity": found.identity,
        **{f"over {each}": found.identity_over(each) for each in OVER},
        **{f"coverage {each}": found.coverage(each) for each in ("query", "target", "both")},
    }


def check_alone(found: Any, scoring: Scoring, unknown: str | None) -> None:
    """An alignment agrees with its letters, and free end gaps are none of its columns."""
    expected = judged(found.rows(), scoring, unknown)
    kinds = expected.pop("kinds")
    assert {name: getattr(found, name) for name in expected} == expected
    query, target = kinds.replace("D", ""), kinds.replace("I", "")
    assert found.query_end - found.query_start == len(query)
    assert found.target_end - found.target_start == len(target)
    inner = kinds.strip("ID")
    before, after = kinds[: kinds.find(inner)], kinds[kinds.rfind(inner) + len(inner) :]
    share = (len(query) - (before + after).count("I")) / max(1, len(found.query.codes))
    assert found.coverage("query") == pytest.approx(share)
    if scoring.local:
        assert not before
        assert not after
        return
    left_insertion, left_deletion, right_insertion, right_deletion = scoring.end_gaps or 4 * [FREE]
    if not kinds:
        return
    assert kinds[0] not in "I" * (left_insertion == FREE) + "D" * (left_deletion == FREE)
    assert kinds[-1] not in "I" * (right_insertion == FREE) + "D" * (right_deletion == FREE)
    assert not found.query_start or left_insertion == FREE
    assert not found.target_start or left_deletion == FREE
    assert found.query_end == len(found.query.codes) or right_insertion == FREE
    assert found.target_end == len(found.target.codes) or right_deletion == FREE


@with_subtests("case", CASES)
@pytest.mark.filterwarnings("ignore")
def test_verbs_agree(case: Case) -> None:
    queries, targets = sequences(case)
    aligner = glsw.Aligner(**{"scoring": Scoring.blast(), "engine": "cpu"} | case.options)
    scoring, unknown = aligner.scoring, case.options.get("unknown")
    every = [(q, t) for q in range(len(queries)) for t in range(len(targets))]
    found = aligner.align_pairs(queries, targets, pairs=every)
    one_by_one = {(q, t): aligner.align(queries[q], targets[t]) for q, t in every}
    expected = {pair: facts(each) for pair, each in one_by_one.items()}
    for k, pair in enumerate(every):
        check_alone(one_by_one[pair], scoring, unknown)
        assert facts(found[k]) == expected[pair]
        several = aligner.alignments(queries[pair[0]], targets[pair[1]], max_alignments=1)
        assert [facts(each) for each in several] == [expected[pair]][: found[k].columns]
    for name in (*COUNTS, *PLACES, "score", "identity"):
        assert getattr(found, name).tolist() == [each[name] for each in expected.values()]
    assert found.cigars() == [each["cigar"] for each in expected.values()]
    for name, of_all in (("over", found.identity_over), ("coverage", found.coverage)):
        for each in OVER if name == "over" else ("query", "target", "both"):
            numbers = [one[f"{name} {each}"] for one in expected.values()]
            assert of_all(each).tolist() == numbers
    near = aligner.neighbors(queries, targets, cutoff=0, distance="identity").toarray()
    identities = found.identity.reshape(near.shape)
    assert near.tolist() == identities.tolist()
    best = aligner.reciprocal_best_hits(queries, targets, cutoff=0, distance="identity")
    assert best.value.tolist() == identities[best.a, best.b].tolist()
    if case.options.get("seg") not in SIDES and "mask_low_complexity" not in case.options:
        check_clusters(aligner, queries)
    strand = {} if case.letters == AMINO or scoring.alphabet.width > 1 else {"strand": "both"}
    for q, query in enumerate(queries):
        for hit in aligner.search(query, targets, evalue=None, top=len(targets), **strand):
            t = int(hit.target.id.split()[-1]) - 1
            if hit.context.strand < 0:
                turned = aligner.align(reversed_strand(query, rna=False), targets[t])
                assert facts(hit.alignment) == facts(turned)
            else:
                assert facts(hit.alignment) == expected[q, t]


def check_clusters(aligner: glsw.Aligner, queries: list[str]) -> None:
    """Clusters by identity are the connected pairs of sequences of this identity."""
    found = aligner.align_pairs(queries, pairs=np.argwhere(np.ones((len(queries),) * 2)))
    identities = np.triu(found.identity.reshape(len(queries), -1))
    for cutoff in np.unique(identities[identities > 0])[:3].tolist():
        near = (identities >= cutoff) | (identities >= cutoff).T
        for _ in queries:
            near = near | (near.astype(int) @ near > 0)
        clusters = aligner.clusters(queries, cutoff=cutoff, distance="identity")
        assert (clusters[:, None] == clusters).tolist() == near.tolist()


@with_subtests("name, options, words", TRANSLATED)
@pytest.mark.filterwarnings("ignore")
def test_reading_frames_agree(
    name: str, options: dict[str, Any], words: str, tmp_path: Any, capsys: Any
) -> None:
    dna_case, protein_case = dna("", **LOWER)._replace(count=2), protein("", **LOWER)
    queries, targets = sequences(dna_case, 8)
    if name != "tblastx":
        texts = sequences(protein_case._replace(others="", count=2))
        coded = [[back_translated(each) for each in side] for side in texts]
        queries, targets = (coded[0], texts[1]) if name == "blastx" else (texts[0], coded[1])
    aligner = glsw.Aligner(engine="cpu", lower_case_mask=True)
    checked = 0
    for result in aligner.search(queries, targets, evalue=None, top=2, max_hsps=1, **options):
        for hit in result:
            found = hit.alignment
            check_alone(found, aligner.scoring, None)
            letters = found.query.letters, found.target.letters
            assert facts(aligner.align(*letters)) == facts(found)
            assert facts(aligner.align_pairs([letters[0]], [letters[1]])[0]) == facts(found)
            checked += any(letter.islower() for letter in found.rows()[0])
    assert checked
    check_commands(
        (queries, targets), f"--lower-case-mask {words}", aligner, options, tmp_path, capsys
    )


def back_translated(protein: str) -> str:
    """A gene of a protein, in lower case where it is."""
    codons = dict(zip(AMINO, re.findall("...", CODONS), strict=True))
    return "".join(
        codons[each.upper()].lower() if each.islower() else codons[each] for each in protein
    )


@with_subtests("case", [case for case in CASES if case.words is not None])
@pytest.mark.filterwarnings("ignore")
def test_commands_and_formats_agree(case: Case, tmp_path: Any, capsys: Any) -> None:
    options = {"engine": "cpu"} | case.options | {"scoring": case.scoring}
    options.pop("mode", None)
    aligner = glsw.Aligner(**options)
    sides = sequences(case)
    check_commands(sides, case.words or "", aligner, {}, tmp_path, capsys)
    files = [str(tmp_path / name) for name in ("queries.fa", "targets.fa")]
    words = [*files, *(case.words or "").split(), "--engine", "cpu", "--no-progress"]
    near = ["--distance", "identity", "--cutoff", "0", "--format", "tsv"]
    assert main(["neighbors", *words, *near]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    every = np.argwhere(np.ones((len(sides[0]), len(sides[1]))))
    found = aligner.align_pairs(*sides, pairs=every)
    listed = {(int(q[1:]), int(t[1:])): float(value) for q, t, value in lines}
    for pair, value in zip(map(tuple, every.tolist()), found.identity.tolist(), strict=True):
        assert listed.get(pair, 0) == pytest.approx(value, abs=1e-4)


def check_commands(
    sides: tuple[list[str], list[str]],
    words: str,
    aligner: glsw.Aligner,
    options: dict[str, Any],
    folder: Any,
    capsys: Any,
) -> None:
    """The commands print in all formats what Python returns."""
    for letter, texts, name in zip("qt", sides, ("queries", "targets"), strict=True):
        lines = [f">{letter}{k}\n{text}\n" for k, text in enumerate(texts)]
        (folder / f"{name}.fa").write_text("".join(lines))
        (folder / f"{name}.one.fa").write_text(lines[0])
    python = {} if aligner.scoring.local else {"statistics": "none"}
    both = [list(glsw.read(folder / f"{name}.fa")) for name in ("queries", "targets")]
    results = aligner.search(*both, evalue=None, top=2, **options, **python)
    hsps = [hsp for result in results for hit in result for hsp in hit.hsps]
    assert hsps
    common = [*words.split(), "--engine", "cpu", "--no-progress"]

    def output(command: str, form: str, ending: str) -> str:
        files = [str(folder / f"{name}{ending}") for name in ("queries", "targets")]
        every = ["--top", "2", "--max-hsps", "1", "--evalue", "inf"]
        more = every if command == "search" else []
        more += ["--max-alignments", "1"] if command == "align" and aligner.scoring.local else []
        assert main([command, *files, *common, *more, "--format", form]) == 0
        return str(capsys.readouterr().out)

    check_formats(hsps, lambda form: output("search", form, ".fa"))
    if options or aligner.scoring.alphabet.nucleotides:
        return
    alone = aligner.search(both[0][0], both[1][:1], evalue=None, **python)
    if alone:  # a search lists positive scores only
        check_formats(list(alone[0].hsps), lambda form: output("align", form, ".one.fa"))


def check_formats(hsps: list[glsw.Hsp], output: Any) -> None:
    rows = list(csv.DictReader(output("tsv").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    objects = [
        {**hsp, "target": hit["target"]["id"]}
        for line in output("jsonl").splitlines()
        for hit in json.loads(line)["hits"]
        for hsp in hit["hsps"]
    ]
    blast = [
        dict(zip(BLAST.split(), line.split("\t"), strict=True))
        for line in output(f"blast-tab {BLAST}").splitlines()
    ]
    paf = [line.split("\t") for line in output("paf").splitlines()]
    sam = [line.split("\t") for line in output("sam").splitlines() if line[0] != "@"]
    sam = [line for line in sam if line[2] != "*"]  # but queries without hits
    gff = [line.split("\t") for line in output("gff3").splitlines() if line[0] != "#"]
    counts = {len(each) for each in (rows, objects, blast, paf, sam, gff)}
    assert counts == {len(hsps)}
    for k, hsp in enumerate(hsps):
        found, row = hsp.alignment, rows[k]
        expected = {name: getattr(found, name) for name in (*COUNTS, "cigar")}
        places = [sorted(place) for place in (hsp.query_place, hsp.target_place)]
        (q, q_end), (t, t_end) = places
        expected |= dict(zip(PLACES, (q - 1, q_end, t - 1, t_end), strict=True))
        assert {name: type(value)(row[name]) for name, value in expected.items()} == expected
        assert {name: objects[k][name] for name in expected} == expected
        assert float(row["identity"]) == pytest.approx(found.identity, abs=1e-4)
        assert objects[k]["identity"] == found.identity
        assert (objects[k]["query_row"], objects[k]["target_row"]) == found.rows()[::2]
        runs = re.findall(r"(\d+)(\D)", found.cigar)
        line = blast[k]
        wrong = sum(int(count) for count, kind in runs if kind == "X")
        wanted = [found.columns, found.identities, found.positives, wrong]
        wanted += [sum(kind in "ID" for _, kind in runs), found.gaps]
        names = "length", "nident", "positive", "mismatch", "gapopen", "gaps"
        assert [int(line[name]) for name in names] == wanted
        assert float(line["pident"]) == pytest.approx(100 * found.identity, abs=1e-3)
        assert float(line["ppos"]) == pytest.approx(100 * found.positives / found.columns, abs=1e-2)
        assert sorted([int(line["qstart"]), int(line["qend"])]) == places[0]
        assert sorted([int(line["sstart"]), int(line["send"])]) == places[1]
        assert sum(map(int, re.findall(r"\d+", line["btop"]))) == found.identities
        assert [int(paf[k][at]) for at in (2, 3, 7, 8, 9, 10)] == [
            *(q - 1, q_end, t - 1, t_end),
            *(found.identities, found.columns),
        ]
        turned = "".join(f"{count}{kind}" for count, kind in reversed(runs))
        cigar = next(tag[5:] for tag in paf[k] if tag.startswith("cg:Z:"))
        assert cigar in (found.cigar, turned)
        assert [int(each) for each in gff[k][3:5]] == places[1]
        attributes = dict(each.split("=") for each in gff[k][8].split(";"))
        assert float(attributes["identity"]) == pytest.approx(found.identity, abs=1e-4)
        assert int(sam[k][3]) == t
        if not hsp.of_target.frame:
            assert re.sub(r"\d+S", "", sam[k][5]) == found.cigar
            assert f"NM:i:{found.columns - found.identities}" in sam[k]


@pytest.mark.filterwarnings("ignore")
def test_two_tracks_agree() -> None:
    """Identities and positives are those of the first track."""
    case = protein("two tracks")
    choose = random.Random(3)
    sides = [
        [interleaved(each, "".join(choose.choices(STATES, k=len(each)))) for each in side]
        for side in sequences(case)
    ]
    states = Scoring.match_mismatch(2, -1, 1, 1, alphabet=glsw.Alphabet("states", STATES))
    scoring = glsw.TwoTrackScoring.of(Scoring.blast(), states)
    for mode in (None, "semiglobal"):
        aligner = glsw.Aligner(scoring, mode=mode, engine="reference")
        for query in sides[0]:
            for hit in aligner.search(query, sides[1], top=2, evalue=None, statistics="none"):
                target = sides[1][int(hit.target.id.split()[-1]) - 1]
                check_alone(hit.alignment, aligner.scoring.shown, None)
                assert facts(aligner.align(query, target)) == facts(hit.alignment)
                assert facts(next(aligner.alignments(query, target))) == facts(hit.alignment)


@pytest.mark.skipif(not of_wing("profiles", [1]), reason="the wing of profiles is closed")
@with_subtests("mode", ["local", "semiglobal"])
@pytest.mark.filterwarnings("ignore")
def test_profiles_agree(mode: Any) -> None:
    """Positives of profiles are those of the matrix that they are based on."""
    queries, targets = sequences(protein("profile", others=""))
    profile = wing("profiles.profile").Profile.from_alignment([queries[0].upper()] * 3)
    aligner = glsw.Aligner(mode=mode, engine="reference", lower_case_mask=True)
    for hit in aligner.search(profile, targets, evalue=None, statistics="none"):
        target = targets[int(hit.target.id.split()[-1]) - 1]
        check_alone(hit.alignment, aligner.scoring, None)
        assert facts(aligner.align(profile, target)) == facts(hit.alignment)
