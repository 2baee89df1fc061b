"""Searches of translated targets, as tblastn and tblastx: against Biopython, and NCBI's program."""

import json
import re
import shutil
import subprocess
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from Bio.Seq import reverse_complement, translate
from wing import of_wing

import glsw
from glsw import Aligner, Record, Scoring
from glsw.cli import main
from glsw.device.device import Device
from glsw.sequences.alphabet import DNA, PROTEIN
from glsw.sequences.query import QueryPreparation
from glsw.sequences.translated import TranslatedDatabase

AMINO_ACIDS, CODONS = "ACDEFGHIKLMNPQRSTVWY", {}
for _codon in (a + b + c for a in "ACGT" for b in "ACGT" for c in "ACGT"):
    CODONS.setdefault(translate(_codon), []).append(_codon)
FRAMES = (1, 2, 3, -1, -2, -3)


def work(
    seed: int = 0, targets: int = 9, between: str = "ACGTN"
) -> tuple[list[Record], list[Record]]:
    """Proteins, and DNA that has parts of them in any frame of either strand, with changes."""
    random = np.random.default_rng(seed)
    proteins = ["".join(random.choice(list(AMINO_ACIDS), 40 + 17 * k)) for k in range(4)]
    dna = []
    for t in range(targets):
        pieces = []
        for protein in random.permutation(proteins)[: t % 3 + 1]:
            start = int(random.integers(len(protein) - 20))
            part = [c if random.random() < 0.8 else "A" for c in protein[start:][:30]]
            gene = "".join(random.choice(CODONS[c]) for c in part)
            gene = gene if random.random() < 0.5 else reverse_complement(gene)
            pieces += ["".join(random.choice(list(between), int(random.integers(25)))), gene]
        dna.append(Record(f"t{t}", f"target {t}", "".join(pieces)))
    dna += [dna[0], Record("empty", "", ""), Record("two", "", "AC"), Record("codon", "", "ATG")]
    return [Record(f"q{k}", "", letters) for k, letters in enumerate(proteins)], dna


PROTEINS, TARGETS = work()


def frame_of(letters: str, frame: int, genetic_code: int = 1) -> str:
    strand = letters if frame > 0 else reverse_complement(letters)
    codons = strand[abs(frame) - 1 :]
    return translate(codons[: len(codons) // 3 * 3], genetic_code).replace("J", "X")


def frames_of(targets: list[Record]) -> list[Record]:
    return [
        Record(f"{t}", f"{frame}", frame_of(target.letters, frame))
        for t, target in enumerate(targets)
        for frame in FRAMES
    ]


def shape(hsp: glsw.alignment.hits.Hsp) -> tuple:
    return *hsp.alignment.coordinates[:, 0].tolist(), hsp.alignment.cigar


def found(result: glsw.alignment.hits.SearchResult) -> list[tuple]:
    return [
        (hit.target.id, hsp.score, hsp.context.frame, hsp.target_context.frame, *shape(hsp))
        for hit in result
        for hsp in hit.hsps
    ]


def of_frames(result: glsw.alignment.hits.SearchResult, targets: list[Record]) -> list[tuple]:
    """The same from a search of the frames as proteins."""
    return [
        (
            targets[int(hit.target.id)].id,
            hsp.score,
            hsp.context.frame,
            int(hit.target.description),
            *shape(hsp),
        )
        for hit in result
        for hsp in hit.hsps
    ]


def on(engine: str, device: Device) -> dict[str, object]:
    return {"engine": engine, **({"device": device} if engine == "auto" else {})}


@pytest.mark.parametrize("top", [2, None])
@pytest.mark.parametrize("engine", ["reference", "cpu", "auto"])
def test_the_best_frame_counts(engine: str, top: int | None, device: Device) -> None:
    """The first of equal frames, and of each target the best one only."""
    options = {"statistics": "none", "evalue": None, **on(engine, device)}
    searched = glsw.search(PROTEINS, TARGETS, top=top, target_genetic_code=1, **options)
    singly = glsw.search(PROTEINS, frames_of(TARGETS), top=None, **options)
    for result, each in zip(searched, singly, strict=True):
        seen, best = set(), []
        numbers = [hit.target.id for hit in each]
        for number, row in zip(numbers, of_frames(each, TARGETS), strict=True):
            if number not in seen:
                seen.add(number)
                best.append(row)
        assert found(result) == best[:top]
        assert len({row[3] for row in best}) > 2 or top
        assert (result.sequences, result.residues) == (len(TARGETS), sum(map(len, TARGETS)))
        assert result.cells == len(result.query) * sum(map(len, frames_of(TARGETS)))


@pytest.mark.parametrize("translated", [False, True])
def test_further_alignments_of_all_frames(translated: bool) -> None:
    """Those of each frame alone, the best first."""
    queries, code = PROTEINS, None
    if translated:
        queries = [Record(f"g{k}", "", each.letters[:70]) for k, each in enumerate(TARGETS[:3])]
        code = 1
    options = {"engine": "cpu", "max_hsps": None, "min_score": 22, "top": None}
    options |= {"genetic_code": code, "statistics": "none", "evalue": None}
    searched = list(glsw.search(queries, TARGETS, target_genetic_code=1, **options))
    for query, result in zip(queries, searched, strict=True):
        singly = glsw.search(query, frames_of(TARGETS), **options)
        assert Counter(found(result)) == Counter(of_frames(singly, TARGETS))
        for hit in result:
            scores = [hsp.score for hsp in hit.hsps]
            assert scores == sorted(scores, reverse=True)
    assert any(len(hit.hsps) > 1 for result in searched for hit in result)


@pytest.mark.filterwarnings("ignore:.* lie in regions of low complexity")
def test_places_lead_back_to_the_letters_of_the_target() -> None:
    letters = {each.id: each.letters for each in TARGETS}
    options = {"engine": "cpu", "max_hsps": 3, "min_score": 15}
    seen = set()
    for result in glsw.search(PROTEINS, TARGETS, target_genetic_code=1, **options):
        for hit in result:
            assert hit.target.letters == letters[hit.target.id]
            for hsp in hit.hsps:
                first, last = hsp.target_place
                context = hsp.target_context
                assert (first > last) == (context.frame < 0) == (context.strand < 0)
                piece = letters[hit.target.id][min(first, last) - 1 : max(first, last)]
                piece = piece if context.frame > 0 else reverse_complement(piece)
                aligned = hsp.alignment.rows()[2].replace("-", "")
                assert translate(piece).replace("J", "X") == aligned
                seen.add(context.frame)
    assert seen == set(FRAMES)


@pytest.mark.parametrize("engine", ["cpu", "auto"])
def test_long_targets_are_searched_through_windows(engine: str, device: Device) -> None:
    random = np.random.default_rng(5)
    (query, *_), some = work(7, targets=30)
    filler = ("".join(random.choice(list("ACGT"), 700)) for _ in some)
    genome = Record(
        "genome", "", "".join(f + each.letters for f, each in zip(filler, some, strict=True))
    )
    options = {"max_hsps": None, "min_score": 30, "target_genetic_code": 1}
    expected, result = (
        glsw.search(query, [genome], **options, **on(name, device))
        for name in ("reference", engine)
    )
    assert found(result) == found(expected)
    assert len(result[0].hsps) > 5


@pytest.mark.filterwarnings("ignore:.* lie in regions of low complexity")
def test_strands_codes_and_databases_of_files(tmp_path: Path) -> None:
    """A database of `makedb` gives what its FASTA gives; codes and strands are those asked for."""
    fasta = tmp_path / "dna.fasta"
    fasta.write_text("".join(f">{each.id}\n{each.letters}\n" for each in TARGETS))
    database = glsw.makedb(fasta, tmp_path / "dna.glsw", alphabet=DNA)
    options = {"engine": "cpu", "target_strand": "minus", "target_genetic_code": 2}
    one, other, read = (
        [found(each) for each in glsw.search(PROTEINS, targets, **options)]
        for targets in (fasta, database, Path(tmp_path / "dna.glsw"))
    )
    assert one == other == read
    assert {row[3] for rows in one for row in rows} <= {-1, -2, -3}
    amino = TranslatedDatabase(database, QueryPreparation(PROTEIN, "minus", 2))
    assert [each.letters for each in amino][:3] == [
        frame_of(TARGETS[0].letters, frame, 2) for frame in (-1, -2, -3)
    ]


def test_an_executor_finds_the_same() -> None:
    from concurrent.futures import ThreadPoolExecutor

    options = {"top": 4, "max_hsps": 2, "target_genetic_code": 1}
    with Aligner(engine="cpu") as aligner:
        expected = [found(each) for each in aligner.search(PROTEINS, TARGETS, **options)]
        with ThreadPoolExecutor(2) as executor:
            searched = aligner.search(PROTEINS, TARGETS, executor=executor, **options)
            assert [found(each) for each in searched] == expected


@pytest.mark.filterwarnings("ignore:.* lie in regions of low complexity")
def test_masks() -> None:
    """A codon with a letter in lower case is masked, and so is what SEG finds in a frame."""
    gene = "ATGGCTAGCAAAGGAGAAGAACTTTTCACTGGAGTTGTCCCAATTCTTGTTGAATTAGAT"
    protein = translate(gene)
    lower = gene[:30] + gene[30:34].lower() + gene[34:]
    options = {"engine": "cpu", "target_genetic_code": 1, "composition": 0}
    (hit,) = glsw.search(protein, [lower], lower_case_mask=True, **options)
    alone = glsw.search(protein, [lower], **options)[0]
    masked = protein[:10] + "XX" + protein[12:]
    (plain,) = glsw.search(protein, [masked], engine="reference", composition=0)
    assert hit.score == plain.score < alone.score
    assert hit.alignment.target.letters == protein[:10] + protein[10:12].lower() + protein[12:]
    low = "QQQQQQQQQQPQQQQPQQQQQQ"
    dna = "".join(CODONS[c][0] for c in protein + low)
    plain, less = (
        glsw.search(protein + low, [dna], seg=seg, **options)[0] for seg in ("no", "target")
    )
    assert less.score < plain.score
    assert low.lower() in less.alignment.target.letters


def test_what_is_refused(tmp_path: Path) -> None:
    dna, protein = "ATGGCTAGCAAAGGA", "MASKG"
    for options, message in (
        ({"scoring": Scoring.nucleotide()}, "translation needs a protein scoring"),
        ({"target_genetic_code": 7}, "genetic code 7: there are 1, 2, 3"),
        ({"target_strand": "up"}, "strand 'up': both, plus, minus expected"),
    ):
        with pytest.raises(ValueError, match=message):
            glsw.search(protein, [dna], **{"target_genetic_code": 1, **options})
    with pytest.raises(ValueError, match="target_strand 'plus' requires target_genetic_code"):
        glsw.search(protein, [protein], target_strand="plus")
    with pytest.raises(ValueError, match="like protein: target_genetic_code=1 translates the ta"):
        glsw.search(protein, [dna])
    with pytest.raises(ValueError, match="is translated for proteins: genetic_code=1 translates"):
        glsw.search(dna, [dna], target_genetic_code=1)
    with pytest.raises(ValueError, match=r"not in the DNA alphabet .*; targets to translate"):
        glsw.search(protein, ["MPEPTIDE"], target_genetic_code=1)
    fasta = tmp_path / "a.fasta"
    fasta.write_text(">a\nMASKG\n")
    with pytest.raises(ValueError, match="translated targets are DNA, its alphabet is protein"):
        glsw.search(protein, glsw.makedb(fasta, tmp_path / "a.glsw"), target_genetic_code=1)
    fasta.write_text(f">a\n{dna}\n")
    database = glsw.makedb(fasta, tmp_path / "a.glsw", alphabet=DNA)
    with pytest.raises(ValueError, match="masked in FASTA files only"):
        glsw.search(protein, database, target_genetic_code=1, lower_case_mask=True)


def test_hits_that_are_not_listed() -> None:
    """A target counts once, whatever its frames."""
    options: dict = {"engine": "cpu", "target_genetic_code": 1}
    every = glsw.search(PROTEINS[0], TARGETS[:9], **options)
    assert (every.evalue, every.more) == (10, 0)
    assert len(every) > 2
    few = glsw.search(PROTEINS[0], TARGETS[:9], top=2, **options)
    assert few.more == len(every) - 2
    options |= {"statistics": "none"}
    assert glsw.search(PROTEINS[0], TARGETS[:9], top=9, **options).unlisted == ""
    some = glsw.search(PROTEINS[0], TARGETS[:9], top=2, **options)
    assert some.more is None
    assert "the other 7 sequences, not listed, have scores of at most" in some.unlisted


# the command line


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, records in (("q.fasta", PROTEINS[:2]), ("dna.fasta", TARGETS[:9])):
        text = "".join(f">{each.id} {each.description}\n{each.letters}\n" for each in records)
        Path(name).write_text(text)


@pytest.mark.usefixtures("files")
def test_formats(capsys: pytest.CaptureFixture[str]) -> None:
    """All formats have places on the DNA, and the frame."""

    def printed(form: str) -> str:
        words = "search q.fasta dna.fasta --translated-target --engine reference --top 5 --format"
        assert main([*words.split(), form]) == 0
        return capsys.readouterr().out

    options = {"engine": "cpu", "top": 5, "target_genetic_code": 1}
    hsps = [
        (each.query, hit, hit.hsps[0])
        for each in glsw.search(PROTEINS[:2], TARGETS[:9], **options)
        for hit in each
    ]
    assert {hsp.target_context.strand for _, _, hsp in hsps} == {1, -1}
    rows = [line.split("\t") for line in printed("blast-tab sstart send sframe slen").splitlines()]
    assert rows == [
        [*map(str, hsp.target_place), str(hsp.target_context.frame), str(len(hit.target))]
        for _, hit, hsp in hsps
    ]
    head, *lines = (line.split("\t") for line in printed("tsv").splitlines())
    values = [dict(zip(head, line, strict=True)) for line in lines]
    names = "target_start", "target_end", "target_frame", "target_length"
    from_0 = [
        [str(min(hsp.target_place) - 1), str(max(hsp.target_place)), *row[2:]]
        for (_, _, hsp), row in zip(hsps, rows, strict=True)
    ]
    assert [[each[name] for name in names] for each in values] == from_0
    objects = [json.loads(line) for line in printed("jsonl").splitlines()]
    found_rows = [
        [str(hsp[name]) for name in names[:3]] + [str(hit["target"]["length"])]
        for each in objects
        for hit in each["hits"]
        for hsp in hit["hsps"]
    ]
    assert found_rows == from_0
    paf = [line.split("\t") for line in printed("paf").splitlines()]
    sam = [line.split("\t") for line in printed("sam").splitlines() if line[0] != "@"]
    for (_, hit, hsp), fields, mapped in zip(hsps, paf, sam, strict=True):
        first, last = sorted(hsp.target_place)
        minus = hsp.target_context.strand < 0
        assert fields[4:9] == [
            "-" if minus else "+",
            hit.target.id,
            str(len(hit.target)),
            str(first - 1),
            str(last),
        ]
        assert f"ZG:i:{hsp.target_context.frame}" in fields
        flag, name, place, _, cigar, *_, letters = mapped[1:10]
        assert (int(flag) & 16 == 16, name, int(place), letters) == (
            minus,
            hit.target.id,
            first,
            "*",
        )
        runs = [(int(n), kind) for n, kind in re.findall(r"(\d+)(\D)", cigar)]
        assert sum(n for n, kind in runs if kind in "MD") == last - first + 1
        assert sum(n for n, kind in runs if kind in "MIS") == 3 * len(hsp.alignment.query.codes)
    for form in ("table", "pairwise", "html"):
        text = printed(form)
        for _, _, hsp in hsps:
            assert f"{hsp.target_context.frame:+}" in text


@pytest.mark.usefixtures("files")
def test_wrong_words(capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in (
        ("q.fasta q.fasta --translated-target", "q.fasta has proteins: --translated-target is"),
        ("q.fasta dna.fasta --target-strand plus", "requires --translated-target"),
        ("q.fasta dna.fasta --target-genetic-code 4", "requires --translated-target"),
        *of_wing(
            "profiles",
            [("q.fasta dna.fasta --translated-target --iterations 2", "cannot be combined")],
        ),
        (
            "q.fasta dna.fasta",
            "has DNA, but the query is scored as protein: give --translated-target",
        ),
        ("dna.fasta dna.fasta --translated-target", "dna.fasta has DNA: give --translated too"),
        ("q.fasta dna.fasta --translated-target --dna", "translation needs a protein scoring"),
    ):
        assert main(["search", *words.split()]) == 2
        assert message in capsys.readouterr().err


# NCBI's program


@pytest.mark.skipif(not shutil.which("tblastn"), reason="no tblastn here")
def test_tblastn_finds_nothing_else(tmp_path: Path) -> None:
    """Of its alignments none is missing or has a higher score; E-values have the same digits."""
    queries, targets = work(11, targets=60)
    targets = [each for each in targets[:60] if len(each) >= 60]
    for name, records in (("q.fasta", queries), ("t.fasta", targets)):
        text = "".join(f">{each.id}\n{each.letters}\n" for each in records)
        (tmp_path / name).write_text(text)
    assert beside_tblastn(tmp_path, "q.fasta", "t.fasta") > 100


@pytest.mark.realdata
@pytest.mark.skipif(not shutil.which("tblastn"), reason="no tblastn here")
def test_tblastn_finds_nothing_else_in_a_genome(data: Path, tmp_path: Path) -> None:
    """Three proteins of one strain, the genome of another one whole and in pieces."""
    proteins = islice(glsw.read(data / "proteins" / "ecoli_K12_sprot_4403.fasta.gz"), 9, 4403, 1500)
    (genome,) = glsw.read(data / "dna" / "ecoli_536_NC_008253.fna.gz")
    for name, records in (
        ("q.fasta", proteins),
        ("whole.fasta", [genome]),
        (
            "pieces.fasta",
            (
                Record(f"p{k}", "", genome.letters[k : k + 2000 + k % 1999])
                for k in range(0, len(genome), 7000)
            ),
        ),
    ):
        text = "".join(f">{each.id}\n{each.letters}\n" for each in records)
        (tmp_path / name).write_text(text)
    for targets in ("whole.fasta", "pieces.fasta"):
        assert beside_tblastn(tmp_path, "q.fasta", targets) > 5


def beside_tblastn(folder: Path, queries: str, targets: str) -> int:
    """Compare all alignments up to E-value 10; return how many are the same."""
    columns = "qseqid sseqid score evalue qstart qend sstart send sframe"
    options = "-comp_based_stats 0 -seg no -sum_stats false -evalue 10 -max_target_seqs 5000"
    files = ["-query", folder / queries, "-subject", folder / targets]
    theirs = subprocess.run(
        ["tblastn", *files, *options.split(), "-outfmt", f"6 {columns}"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    out = folder / "ours"
    words = f"search {folder / queries} {folder / targets} --translated-target --engine cpu"
    words += "".join(of_wing("composition", [" --composition 0"]))
    words += f" --evalue 10 --top 0 --max-hsps 0 --output {out}"
    assert main([*words.split(), "--format", f"blast-tab {columns}"]) == 0
    ours = [line.split("\t") for line in out.read_text().splitlines()]
    by_place = {(*row[:3], *row[4:]): row[3] for row in ours}
    same = 0
    for row in (line.split("\t") for line in theirs.splitlines()):
        evalue = by_place.get((*row[:3], *row[4:]))
        if evalue is not None:
            same += 1
            assert float(evalue) == pytest.approx(float(row[3]), rel=0.02), row  # two digits
            continue
        overlapping = [
            int(each[2])
            for each in ours
            if each[:2] == row[:2] and each[8] == row[8] and _overlap(each, row)
        ]
        assert max(overlapping, default=0) >= int(row[2]), row
    return same


def _overlap(one: list[str], other: list[str]) -> bool:
    for k in (4, 6):
        (a, b), (c, d) = (sorted(map(int, row[k : k + 2])) for row in (one, other))
        if a > d or c > b:
            return False
    return True
