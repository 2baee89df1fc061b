"""Profiles: scores on every engine, how they are made, their files, and other programs' results."""

from __future__ import annotations

import io
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from damage import accepted, cuts, flips

import glsw
from glsw import Aligner, Profile, Record, Scoring
from glsw.cli import main
from glsw.engines import ENGINES
from glsw.scoring.positional import MAX_POSITIONS
from glsw.sequences.alphabet import DNA, PROTEIN
from glsw.sequences.lines import sealed
from glsw.statistics.ungapped_constants import background, lambda_of
from glsw.wings import registered
from glsw.wings.profiles.alignment import OUTSIDE, UNKNOWN, codes_of, different_rows, weights_of
from glsw.wings.profiles.background import Background

DATA = Path(__file__).parent
PSSM, HMM = DATA / "made_up.pssm", DATA / "made_up.hmm"
BLOSUM62 = Scoring.blast()
NAMES = [name for name in ENGINES if name not in registered("ENGINES")]
needs = {
    name: pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed")
    for name in ("psiblast", "hmmbuild")
}


def some(seed: int, length: int) -> str:
    codes, frequencies = background(PROTEIN)
    return PROTEIN.decode(np.random.default_rng(seed).choice(codes, length, p=frequencies))


def mutated(seed: int, letters: str, share: float) -> str:
    random = np.random.default_rng(seed)
    changed = [
        some(int(random.integers(2**31)), 1) if random.random() < share else letter
        for letter in letters
        if random.random() > 0.02
    ]
    return "".join(changed)


def drawn(seed: int, m: int) -> Profile:
    """Return a profile of random scores."""
    random = np.random.default_rng(seed)
    scores = random.integers(-9, 10, (m, len(PROTEIN)))
    return Profile(scores, some(seed, m), BLOSUM62, f"drawn {seed}")


def best_score(scores: np.ndarray, target: np.ndarray, opening: int, extension: int) -> int:
    """Return the best local score by NumPy alone: Gotoh's recurrence over anti-diagonals."""
    m, n = len(scores), len(target)
    low = -(10**9)
    h = np.zeros((m + 1, n + 1), np.int64)
    e, f = np.full_like(h, low), np.full_like(h, low)
    for d in range(2, m + n + 1):
        i = np.arange(max(1, d - n), min(m, d - 1) + 1)
        j = d - i
        e[i, j] = np.maximum(h[i, j - 1] - opening, e[i, j - 1] - extension)
        f[i, j] = np.maximum(h[i - 1, j] - opening, f[i - 1, j] - extension)
        pair = h[i - 1, j - 1] + scores[i - 1, target[j - 1]]
        h[i, j] = np.maximum(np.maximum(0, pair), np.maximum(e[i, j], f[i, j]))
    return int(h.max())


# the engines


@pytest.fixture(scope="module")
def random_profiles() -> tuple[list[Profile], list[str], list[list[int]]]:
    """Profiles, targets, and their scores by NumPy."""
    profiles = [drawn(seed, m) for seed, m in enumerate((1, 7, 33, 64, 180))]
    targets = [some(seed, n) for seed, n in enumerate((1, 2, 30, 65, 140, 20, 9))]
    codes = [PROTEIN.encode(each).astype(np.intp) for each in targets]
    scores = [[best_score(each.scores, target, 12, 1) for target in codes] for each in profiles]
    return profiles, targets, scores


@pytest.mark.parametrize("engine", NAMES)
def test_scores_of_random_profiles_are_those_of_numpy(
    engine: str, random_profiles: tuple[list[Profile], list[str], list[list[int]]]
) -> None:
    profiles, targets, expected = random_profiles
    with Aligner(engine=engine) as aligner:
        for profile, row in zip(profiles, expected, strict=True):
            assert aligner.score(profile, targets).tolist() == row
        assert aligner.score_matrix(profiles, targets).tolist() == expected
        found = list(aligner.search(profiles, targets, top=None))
        for profile, row, result in zip(profiles, expected, found, strict=True):
            for hit in result:
                number = int(hit.target.id.split()[-1]) - 1
                target = PROTEIN.encode(targets[number]).astype(np.intp)
                assert hit.score == row[number]
                assert hit.score == path_score(profile, hit.alignment.coordinates, target)


def path_score(profile: Profile, coordinates: np.ndarray, target: np.ndarray) -> int:
    """Return the score of the columns of an alignment."""
    total = 0
    for (t, q), (t_end, q_end) in zip(coordinates.T[:-1], coordinates.T[1:], strict=True):
        if t < t_end and q < q_end:
            total += int(profile.scores[np.arange(q, q_end), target[t:t_end]].sum())
        else:
            total -= 12 + (t_end - t) + (q_end - q) - 1
    return total


def test_one_sequence_gives_the_results_of_the_sequence(tmp_path, capsys) -> None:
    family = [mutated(k, some(1, 90), 0.3) for k in range(5)]
    database = [some(90 + k, 150) for k in range(300)] + [f"{some(7, 20)}{each}" for each in family]
    fasta = "".join(f">t{k} about it\n{each}\n" for k, each in enumerate(database))
    (tmp_path / "db.fasta").write_text(fasta)
    (tmp_path / "q.fasta").write_text(f">q a query\n{some(1, 90)}\n")
    query = next(glsw.read(tmp_path / "q.fasta"))
    Profile.from_sequence(query).write(tmp_path / "q.profile")
    for words in (
        "--format pairwise --max-hsps 0 --top 0",
        "--format tsv --evalue 100",
        "--format jsonl --statistics fit",
        "--format paf --mode semiglobal",
        "--format blast-tab --engine reference --ties any",
    ):
        printed = []
        for query_words in (f"{tmp_path}/q.fasta", f"--profile {tmp_path}/q.profile"):
            options = f"--composition 0 {words}".split()
            assert main(["search", *query_words.split(), f"{tmp_path}/db.fasta", *options]) == 0
            printed.append(re.sub(r'"seconds": [^,]*', "", capsys.readouterr().out))
        assert printed[0] == printed[1]
        assert printed[0]


def test_masks_are_those_of_the_sequence() -> None:
    query = some(1, 30) + some(2, 20).lower() + "QQQQQQQQQQQQQQQQQQQQ" + some(3, 30)
    targets = [mutated(4, query.upper(), 0.2), some(2, 20), "QQQQQQQQQQQQ"]
    profile = Profile.from_sequence(Record("q", "", query))
    for masks in ({"lower_case_mask": True}, {"mask_low_complexity": True}, {"seg": "both"}):
        if "mask_low_complexity" in masks:
            pytest.importorskip("pydustmasker")
        aligner = Aligner(**masks)  # type: ignore[arg-type]
        assert aligner.score(profile, targets).tolist() == aligner.score(query, targets).tolist()
        assert aligner.align(profile, targets[0]).cigar == aligner.align(query, targets[0]).cigar


def test_both_strands_of_dna() -> None:
    scoring = Scoring.nucleotide()
    random = np.random.default_rng(5)
    query = DNA.decode(random.integers(0, 4, 60))
    targets = [Record("plus", "", query[5:50]), Record("minus", "", DNA.decode(_complement(query)))]
    profile = Profile.from_sequence(Record("q", "", query), scoring)
    found, expected = (
        glsw.search(each, targets, scoring=scoring, top=None)
        for each in (profile, Record("q", "", query))
    )
    assert [(hit.target.id, hit.score, hit.context.strand) for hit in found] == [
        (hit.target.id, hit.score, hit.context.strand) for hit in expected
    ]
    assert str(found) == str(expected)


def _complement(letters: str) -> np.ndarray:
    return 3 - DNA.encode(letters)[::-1]


def test_alignments_and_modes() -> None:
    profile, target = drawn(3, 40), some(9, 60)
    codes = PROTEIN.encode(target).astype(np.intp)
    found = list(glsw.alignments(profile, target, max_alignments=3))
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 3
    assert [path_score(profile, each.coordinates, codes) for each in found] == scores
    with pytest.raises(ValueError, match="letters expected, not profiles"):
        glsw.alignments(profile, target, scores=np.zeros((40, 60)))
    whole = glsw.align(profile, target, mode="global")
    assert whole.query_end - whole.query_start == 40
    assert whole.score == path_score(profile, whole.coordinates, codes)
    assert glsw.score(profile, target, mode="global") == whole.score


def test_statistics_are_those_of_the_matrix() -> None:
    profile = Profile.read(PSSM)
    targets = [mutated(k, profile.letters, 0.3) for k in range(5)]
    (result,) = glsw.search([profile], targets, top=None)
    assert "BLOSUM62 11/1: lambda 0.267, K 0.041" in result.statistics.name
    (fitted,) = glsw.search(
        [profile], [*targets, *(some(k, 120) for k in range(200))], statistics="fit"
    )
    assert fitted.statistics.available
    assert fitted.hits[0].evalue < 1e-5


# errors


def test_errors_say_what_is_wrong() -> None:
    scores = np.zeros((3, len(PROTEIN)), np.int32)
    with pytest.raises(ValueError, match=r"scores have shape \(3, 24\), 2 letters"):
        Profile(scores, "MK", BLOSUM62)
    with pytest.raises(TypeError, match="scores must be integers, got float64"):
        Profile(scores / 2, "MKV", BLOSUM62)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the aligner sets the mode"):
        Profile(scores, "MKV", BLOSUM62.in_mode("global"))
    profile = Profile(scores, "MKV", BLOSUM62)
    with pytest.raises(TypeError, match="not both in one list"):
        glsw.score([profile, "MKV"], "MKV")  # type: ignore[list-item]
    with pytest.raises(ValueError, match="not with each other"):
        glsw.score_matrix([profile])
    with pytest.raises(TypeError, match="got Profile"):
        glsw.align_pairs([profile], ["MKV"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="got Profile"):
        glsw.score("MKV", [profile])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="same matrix and gap costs"):
        glsw.score([profile, Profile(scores, "MKV", Scoring.blast("PAM30", 9, 1))], ["MKV", "MK"])
    with pytest.raises(ValueError, match="a profile is not translated"):
        glsw.search(profile, ["MKV"], genetic_code=1)
    long = np.zeros((MAX_POSITIONS + 1, len(PROTEIN)), np.int32)
    with pytest.raises(ValueError, match="profiles of 32768 positions in total, at most 32767"):
        glsw.score(Profile(long, "A" * len(long), BLOSUM62), "MKV")
    with pytest.raises(ValueError, match="edit distances only"):
        glsw.score(profile, "MKV", engine="bit_parallel")


CLUSTAL = """CLUSTAL W (1.83) multiple sequence alignment

one             MKVLAWHEAGAWGHEE-MKVL 20
two             MKVLAWHEAG--GHEEPMKVL 19
                **********  **** ****

one             HEAG 24
two             HE-G 22
                ** *
"""
ASN = (
    "PssmWithParameters ::= { pssm { isProtein TRUE, numRows 28, numColumns 2, byRow FALSE, query "
    'seq { descr { title "q a {2}" }, inst { seq-data ncbieaa "HE" } }, finalData { scores { '
    + ", ".join(str(k % 9 - 3) for k in range(56))
    + " } } } }\n"
)
STOCKHOLM = """# STOCKHOLM 1.0
#=GF ID   family
one/1-24         MKVLAWHEAGAWGHEE-MKVL
#=GR one/1-24 SS HHHHHHHHHHHHHHHHHHHHH
two/3-21         MKVLAWHEAG--GHEEPMKVL
#=GC SS_cons     HHHHHHHHHHHHHHHHHHHHH
//
"""


@pytest.mark.parametrize("without", [(4,), (8,), (4, 8)])
@pytest.mark.parametrize("instead", [None, "", " " * 30, " " * 16 + "***"])
def test_consensus_lines_of_clustal_may_be_missing(without, instead, tmp_path):
    lines = CLUSTAL.splitlines()
    for at in reversed(without):
        lines[at : at + 1] = [] if instead is None else [instead]
    (tmp_path / "whole").write_text(CLUSTAL)
    (tmp_path / "less").write_text("\n".join(lines))
    whole, less = Profile.read(tmp_path / "whole"), Profile.read(tmp_path / "less")
    assert less.to_text() == whole.to_text().replace("whole", "less")


def test_damaged_alignments_say_where(tmp_path):
    path = tmp_path / "damaged"
    for begin in ("", "\n\n"):
        path.write_text(begin + CLUSTAL.replace("two             MKVL", "two             MK"))
        line = begin.count("\n") + 4
        with pytest.raises(ValueError, match=f"^{path}:{line}: no alignment of format clustal: "):
            Profile.read(path)


MUTATED = {
    "clustal": CLUSTAL,
    "stockholm": STOCKHOLM,
    "hmmer": HMM.read_text(),
    "pssm": PSSM.read_text(),
    "text": Profile.from_alignment(["MKVLAWHE-G", "MKVLSWHEAG"], gaps="positional").to_text(),
}


@pytest.mark.parametrize("text", MUTATED.values(), ids=MUTATED)
def test_mutated_files_are_one_line_or_read(text, tmp_path):
    path, draw = tmp_path / "mutated", random.Random(8)
    path.write_text(text)
    assert len(Profile.read(path)) >= 9
    refused = []
    for _ in range(700):
        made = list(text)
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(10, len(made))
            length = draw.choice([1, 1, 1, 5, 40])
            made[at : at + length] = draw.choice(
                [
                    "",
                    "\n",
                    " ",
                    "-",
                    "#",
                    "//\n",
                    "é",
                    "#=GR",
                    "#=GS x",
                    "*",
                    made[at] * 20,
                    "9" * 20,
                ]
            )
        path.write_text("".join(made), encoding="utf-8")
        try:
            Profile.read(path)
        except ValueError as error:
            refused.append(str(error))
    assert 0 < len(refused) < 700
    assert all(re.match(rf"{path}(:\d+)?: ", each) and "\n" not in each for each in refused)
    assert not any("Error" in each or "out of range" in each for each in refused)


def contents(path):
    """Return all that is read of a profile."""
    found = Profile.read(path)
    costs = found.costs
    arrays = found.scores, found.scoring.matrix, costs.opens, costs.extends
    return *(each.tobytes() for each in arrays), found.letters, found.id, found.scoring.name


def test_damaged_files_are_refused(tmp_path):
    """Every flip too, as the file has a checksum."""
    made = Profile.read(HMM, gaps="positional")
    for profile in (made, Profile.from_sequence("ACGT", Scoring.nucleotide())):
        profile.write(path := tmp_path / "p")
        data = path.read_bytes()
        assert contents(path)
        assert not accepted(path, contents, cuts(data, 300))
        assert not accepted(path, contents, flips(data, 700))
        path.write_bytes(data[: data.rindex(b"end of ")])
        with pytest.raises(ValueError, match=r"p: damaged, cut off or edited: its last line"):
            contents(path)


STOCKHOLM = "# STOCKHOLM 1.0\n\na HEAGAWGHEE\nb HEA-AWGQED\n//\n"


@pytest.mark.parametrize("text", [PSSM.read_text(), HMM.read_text(), ASN, STOCKHOLM])
def test_cut_files_of_other_programs_are_refused(text, tmp_path):
    path = tmp_path / "p"
    path.write_text(text)
    whole = contents(path)
    every = (text.encode()[:size] for size in range(0, len(text), 1 + len(text) // 200))
    assert {*accepted(path, contents, every)} <= {whole}
    path.write_text(text.rstrip("\n"))
    assert contents(path) == whole


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MKV\n", "not a profile, which is"),
        ("glsw profile 1\nid x\n", "not a profile, which is"),
        (sealed("glsw profile 2\nid x\n"), "no line 'matrix' in it"),
        ("HMMER3/f\nALPH amino\n//\n", "no line HMM"),
        (f"{HMM.read_text()}{HMM.read_text()}", "2 models, one expected"),
        (HMM.read_text().replace("LENG  14", "LENG  15"), "14 nodes, its line LENG says 15"),
        (HMM.read_text().replace("ALPH  amino", "ALPH  coins"), "a model of coins"),
        (PSSM.read_text().replace("    3 ", "    5 ", 1), "position 3, its letter and 20 scores"),
        ("\n".join(PSSM.read_text().splitlines()[:30]), "it ends after position 27"),
        ("PssmWithParameters ::= { pssm { numRows 28 } }", "not a PSSM of psiblast"),
        ("# STOCKHOLM 1.0\nnothing\n", "cut off: no line // at its end"),
        ("CLUSTAL W (1.83) multiple\n\n\n", "no alignment .*: there are no rows"),
    ],
)
def test_errors_of_files_are_one_line(tmp_path, capsys, text: str, message: str) -> None:
    path = tmp_path / "broken"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        Profile.read(path)
    (tmp_path / "db.fasta").write_text(">t\nMKV\n")
    assert main(["search", "--profile", str(path), str(tmp_path / "db.fasta")]) != 0
    printed = capsys.readouterr().err
    assert str(path) in printed
    assert printed.count("\n") == 1


# from alignments


def test_weights_are_those_of_henikoff_and_henikoff() -> None:
    rows = ["GYVGS", "GFDGF", "GYDGF", "GYQGG"]  # their example of 1994
    letters = sorted(set("".join(rows)))
    block = np.array([[letters.index(letter) for letter in row] for row in rows], np.int8)
    weights, different = weights_of(block)
    assert weights.round(3).tolist() == [0.267, 0.267, 0.2, 0.267]
    assert different == pytest.approx((2 + 3 + 3) / 3)


def test_an_alignment_without_other_rows_gives_the_matrix() -> None:
    query = some(1, 50)
    for rows in ([query], [query, query], [query, "-" * 50]):
        made = Profile.from_alignment(rows)
        assert np.array_equal(made.scores[:, :20], Profile.from_sequence(query).scores[:, :20])


def test_scores_of_an_alignment_by_the_formula() -> None:
    rows = ["MKVLAAGIVG", "MKILA-GIVG", "MRVLSAGLVG", "--VIATGIA-"]
    codes, frequencies = background(PROTEIN)
    matrix = BLOSUM62.matrix[np.ix_(codes, codes)]
    names = "".join(str(PROTEIN.letters[code]) for code in codes)
    rate = 0.3176
    column = 2  # V, I, V, V: all rows reach it, and together they reach columns 2 to 8
    reach = [row[2:9] for row in rows]
    weights = np.zeros(4)
    for letters in zip(*reach, strict=True):
        for k, letter in enumerate(letters):
            weights[k] += 1 / (len(set(letters)) * letters.count(letter))
    weights /= weights.sum()
    distinct = sorted(len(set(letters) - {"-"}) for letters in zip(*reach, strict=True))[3:]
    alpha = 1.0  # of so many random letters as many are different
    while 20 - np.sum((1 - frequencies) ** alpha) < np.mean(distinct):
        alpha += 1e-4
    alpha -= 1
    observed = np.zeros(20)
    for row, weight in zip(rows, weights, strict=True):
        observed[names.index(row[column])] += weight
    pseudo = observed @ np.exp(rate * matrix) * frequencies
    mixed = (alpha * observed + 5.5 * frequencies) / (alpha + 5.5)
    part = 0.0457 / np.sum(mixed * np.log(mixed / frequencies)) ** 0.8
    beta = 500 * part / (1 - part)
    estimate = (alpha * observed + beta * pseudo) / (alpha + beta)
    expected = np.log(estimate / frequencies) / rate
    found = Profile.from_alignment(rows).scores[column, codes]
    assert np.abs(found - expected).max() < 1.0  # rescaled and rounded


def test_scores_are_rescaled_to_the_lambda_of_the_matrix() -> None:
    query = some(1, 120)
    made = Profile.from_alignment([query, *(pad(mutated(k, query, 0.5), 120) for k in range(9))])
    codes, frequencies = background(PROTEIN)
    scores, at = np.unique(made.scores[:, codes].astype(np.int64), return_inverse=True)
    chances = np.bincount(at.ravel(), np.tile(frequencies / 120, 120))
    assert lambda_of(scores, chances) == pytest.approx(0.3176, abs=0.002)


def pad(letters: str, length: int) -> str:
    return letters[:length].ljust(length, "-")


def test_alignments_of_biopython() -> None:
    from Bio.Align import MultipleSeqAlignment, read as read_alignment
    from Bio.Seq import Seq
    from Bio.SeqRecord import SeqRecord

    rows = ["MKV-LAAGIVG", "MKILLA-GIVG", "MRV-LSAGLVG"]
    records = [SeqRecord(Seq(row), id=f"r{k}") for k, row in enumerate(rows)]
    text = "".join(f">r{k}\n{row}\n" for k, row in enumerate(rows))
    made = [
        Profile.from_alignment(each, id="x").to_text()
        for each in (
            rows,
            MultipleSeqAlignment(records),
            read_alignment(io.StringIO(text), "fasta"),
        )
    ]
    assert made[0] == made[1] == made[2]
    assert Profile.from_alignment(rows).letters == "MKVLAAGIVG"
    assert Profile.from_alignment(rows, query=1).letters == "MKILLAGIVG"
    assert Profile.from_alignment(rows, query=None).letters == "MKVLAAGIVG"
    with pytest.raises(ValueError, match="an alignment must have rows"):
        Profile.from_alignment([])
    with pytest.raises(ValueError, match="the same length"):
        Profile.from_alignment(["MK", "MKV"])


# files


def test_aligned_fasta_needs_no_readers_of_biopython(tmp_path: Path) -> None:
    (tmp_path / "a.fasta").write_text("\n>r1 one\r\nMKV-\r\nLAA\r\n>r2\nMKILLAG\n")
    code = "import sys, glsw; print(glsw.Profile.read(sys.argv[1]).id, 'Bio.SeqIO' in sys.modules)"
    words = [sys.executable, "-c", code, str(tmp_path / "a.fasta")]
    made = subprocess.run(words, capture_output=True, text=True, check=True)
    assert made.stdout.split() == ["r1", "False"]
    assert Profile.read(tmp_path / "a.fasta").letters == "MKVLAA"
    (tmp_path / "b.fasta").write_text(">r1\nMKV\n>r2\nMK\n")
    with pytest.raises(ValueError, match=r"b\.fasta: .* the same length"):
        Profile.read(tmp_path / "b.fasta")


def test_text_is_read_back_the_same(tmp_path) -> None:
    strange = Profile.from_sequence(
        Record("a b", 'a "title"\nof two lines', "ACGTN"), Scoring.nucleotide()
    )
    gonnet = Profile.from_sequence("MKV", Scoring.named("GONNET1992", 10, 0.5))
    for profile in (drawn(1, 9), strange, gonnet, Profile.read(PSSM)):
        profile.write(tmp_path / "p")
        again = Profile.read(tmp_path / "p")
        assert again.to_text() == profile.to_text()
        assert again.scoring.alphabet == profile.scoring.alphabet
        assert np.array_equal(again.scores, profile.scores)
        assert (again.id, again.description) == (profile.id, profile.description)


def near_rows(seed: int, *, ambiguous: bool = True) -> list[str]:
    """Return a query, two relatives, and two rows that are about 94 % like another one."""
    random, length = np.random.default_rng(seed), 50
    query = some(seed, length)

    def changed(letters: str, count: int) -> str:
        row = list(letters)
        for k in random.choice(length, count, replace=False).tolist():
            row[k] = some(int(random.integers(2**31)), 1) if row[k] != "-" else "-"
        return "".join(row)

    def cut(letters: str) -> str:
        before, gap, behind = (int(each) for each in random.integers(0, 6, 3))
        row = "-" * before + letters[before:20] + "-" * gap + letters[20 + gap :]
        row = row[: length - behind] + "-" * behind
        return row[:30] + "X" + row[31:] if ambiguous and random.random() < 0.4 else row

    one, two = cut(changed(query, 20)), changed(query, 25)
    three = changed(one, int(random.integers(0, 6)))
    three = three[:33] + "-" + three[34:] if random.random() < 0.3 else three
    four = cut(changed(query, int(random.integers(0, 3))))
    return [query, two, one, three, four]


def kept_by_the_rule(codes: np.ndarray) -> list[int]:
    """Return the rows that psiblast keeps, by a loop over all pairs."""
    kept = [0]
    for k in range(1, len(codes)):
        clear = (codes[0] != UNKNOWN) & (codes[k] != UNKNOWN)
        if (codes[0] == codes[k])[clear & (codes[k] != OUTSIDE)].all():
            continue
        for other in kept[1:]:
            some = (codes[[other, k]] != OUTSIDE).any(axis=0)
            some &= (codes[[other, k]] != UNKNOWN).all(axis=0)
            if (codes[other] == codes[k])[some].mean() >= 0.94:
                break
        else:
            kept.append(k)
    return kept


def test_rows_near_the_query_are_kept() -> None:
    """As in psiblast: of those near another row, and of the query's equals, none is."""
    made = Background(BLOSUM62)
    dropped = set()
    for seed in range(60):
        rows = near_rows(seed)
        codes = np.stack([codes_of(row, "row", made) for row in rows])
        kept = different_rows(codes).tolist()
        assert kept == kept_by_the_rule(codes), seed
        dropped |= {(k, k in kept) for k in range(5)}
    assert dropped == {(0, True), (1, True), (2, True), *((k, b) for k in (3, 4) for b in (0, 1))}
    query = some(1, 50)
    near = query[:25] + "WW" + query[27:]
    one, other = Profile.from_alignment([query, near]), Profile.from_sequence(query)
    assert not np.array_equal(one.scores, other.scores)


@needs["psiblast"]
def test_rows_are_those_that_psiblast_keeps(tmp_path) -> None:
    """A row that is dropped changes no score."""
    (tmp_path / "target").write_text(f">t\n{some(7, 50)}\n")

    def scores(rows: list[str]) -> str:
        fasta = "".join(f">r{k}\n{row}\n" for k, row in enumerate(rows))
        (tmp_path / "rows").write_text(fasta)
        words = "psiblast -in_msa rows -subject target -out_ascii_pssm pssm -comp_based_stats 0"
        subprocess.run(words.split(), cwd=tmp_path, capture_output=True, check=True)
        return (tmp_path / "pssm").read_text()

    made = Background(BLOSUM62)
    for seed in range(6):
        rows = near_rows(seed)
        kept = different_rows(np.stack([codes_of(row, "row", made) for row in rows])).tolist()
        for last in (3, 4):
            same = scores(rows[:last]) == scores([*rows[:last], rows[last]])
            assert same == (last not in kept), (seed, last)


def test_an_alignment_of_one_row_is_its_sequence() -> None:
    every = "".join(letter for letter in PROTEIN.letters if letter != "*")
    one, other = Profile.from_alignment([every]), Profile.from_sequence(every)
    assert np.array_equal(one.scores, other.scores)


def test_ascii_pssm_of_psiblast() -> None:
    profile = Profile.read(PSSM)
    assert (len(profile), profile.id, profile.scoring.name) == (60, "made_up", "BLOSUM62")
    words = PSSM.read_text().splitlines()[3].split()
    assert profile.letters[0] == words[1]
    assert profile.scores[0, :20].tolist() == [int(word) for word in words[2:22]]
    other = Profile.read(PSSM, Scoring.blast("BLOSUM62", 9, 2))
    assert (other.scoring.gap_open, other.scoring.gap_extend) == (11, 2)


def test_hmm_of_hmmer() -> None:
    profile = Profile.read(HMM)
    assert (profile.id, profile.letters) == ("made_up", "MKVLAAGIVGCWHD")
    first = next(line.split() for line in HMM.read_text().splitlines() if re.match(r" +1 ", line))
    ratio = np.exp(-float(first["ACDEFGHIKLMNPQRSTVWY".index("M") + 1])) / 0.0237718
    assert profile.scores[0, PROTEIN.letters.index("M")] == round(np.log(ratio) / 0.3176)
    # an alignment that the model was made of
    assert glsw.score(profile, "MKVLAAGIVGCWHD") > 3 * glsw.score(profile, "GVIGAALVKMDHWC")


@needs["psiblast"]
def test_scores_of_psiblast(tmp_path) -> None:
    query = some(1, 130)
    family = [mutated(k, query, 0.25 + 0.03 * k) for k in range(10)]
    database = [some(500 + k, 200) for k in range(150)]
    database += [some(900 + k, 20) + each + some(950 + k, 30) for k, each in enumerate(family)]
    fasta = "".join(f">t{k}\n{each}\n" for k, each in enumerate(database))
    (tmp_path / "db").write_text(fasta)
    (tmp_path / "q").write_text(f">q made up\n{query}\n")

    def ran(words: str) -> str:
        done = subprocess.run(
            [each.replace(",", " ") for each in words.split()],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    ran("makeblastdb -in db -dbtype prot")
    ran(
        "psiblast -query q -db db -num_iterations 2 -comp_based_stats 0 -out_ascii_pssm ascii "
        "-out_pssm asn -save_pssm_after_last_round"
    )
    table = ran(
        "psiblast -in_pssm asn -db db -comp_based_stats 0 -evalue 1e-3 -outfmt 6,sseqid,score"
    )
    of_psiblast = dict(line.split() for line in table.splitlines() if line.startswith("t"))
    ascii_, asn = Profile.read(tmp_path / "ascii"), Profile.read(tmp_path / "asn")
    assert np.array_equal(ascii_.scores[:, :20], asn.scores[:, :20])
    assert ascii_.letters == asn.letters == query
    assert (asn.id, asn.description) == ("q", "made up")
    result = glsw.search(asn, tmp_path / "db", top=None, evalue=1e-3)
    found = {hit.target.id: str(hit.score) for hit in result}
    assert len(of_psiblast) >= len(family)
    # psiblast's heuristics may miss a better alignment, never find one
    worse = [name for name, score in of_psiblast.items() if int(score) > int(found[name])]
    same = [name for name, score in of_psiblast.items() if score == found[name]]
    assert not worse
    assert len(same) >= 0.9 * len(of_psiblast)


@needs["hmmbuild"]
def test_models_of_hmmer(tmp_path) -> None:
    query = some(1, 80)
    rows = [query, *(pad(mutated(k, query, 0.2), 80) for k in range(5))]
    (tmp_path / "a.fasta").write_text("".join(f">r{k}\n{row}\n" for k, row in enumerate(rows)))
    words = ["hmmbuild", "--amino", "a.hmm", "a.fasta"]
    subprocess.run(words, cwd=tmp_path, capture_output=True, check=True)
    profile = Profile.read(tmp_path / "a.hmm")
    assert len(profile) >= 70
    best = glsw.search(profile, [some(77, 80), mutated(99, query, 0.4), some(78, 80)])
    assert best.hits[0].target.id == "target 2"
