"""Figures as SVG: in which order engines visit the cells (ENGINES.md); rows of the benchmark.

python docs/figures.py          # writes docs/figures/*.svg
python docs/figures.py --check  # exit status 1 if they are others
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "figures"
ROWS = FOLDER.parents[1] / "bench" / "results" / "llvmpipe.ndjson"
CELL = 26
WHITE, PALE, MIDDLE, DARK, GREY, RED = "#fff", "#d7e6f5", "#7fb2dd", "#2464a4", "#eceff2", "#c2410c"
INK = "#24292f"


class Figure:
    """Shapes on a white sheet.

    Parameters
    ----------
    width, height : int
        Pixels.
    title : str
        For readers who do not see it.
    """

    def __init__(self, width: int, height: int, title: str) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" font-family="sans-serif" '
            f'font-size="13" fill="{INK}">\n<title>{title}</title>\n'
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="{INK}"/></marker>'
            "</defs>\n"
            f'<rect width="{width}" height="{height}" rx="6" fill="#fff"/>'
        ]

    def box(self, x: float, y: float, w: float, h: float, fill: str, text: str = "") -> None:
        """Draw a box, perhaps with a text in its middle."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{fill}" '
            f'stroke="{INK}" stroke-width=".8"/>'
        )
        if text:
            colour = WHITE if fill == DARK else INK
            self.text(x + w / 2, y + h / 2 + 4.5, text, "middle", colour)

    def text(self, x: float, y: float, text: str, anchor: str = "start", colour: str = INK) -> None:
        """Write a text."""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{colour}">{text}</text>'
        )

    def arrow(self, x: float, y: float, to_x: float, to_y: float, colour: str = INK) -> None:
        """Draw an arrow."""
        self.parts.append(
            f'<line x1="{x:g}" y1="{y:g}" x2="{to_x:g}" y2="{to_y:g}" stroke="{colour}" '
            'stroke-width="1.4" marker-end="url(#tip)"/>'
        )

    def polygon(self, points: Sequence[tuple[float, float]], fill: str) -> None:
        """Draw a polygon."""
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(
            f'<polygon points="{at}" fill="{fill}" stroke="{INK}" stroke-width=".8"/>'
        )

    def line(self, points: Sequence[tuple[float, float]], colour: str, dashes: str = "") -> None:
        """Draw the line of a chart."""
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(
            f'<polyline points="{at}" fill="none" stroke="{colour}" stroke-width="2.2"{dashed}/>'
        )

    def tick(self, left: float, right: float, y: float, text: str, colour: str = GREY) -> None:
        """Draw a line of a chart's grid, with its value."""
        shape = f'<line x1="{left}" x2="{right}" y1="{y:g}" y2="{y:g}" stroke="'
        self.parts.append(f'{shape}{colour}"/>')
        self.text(left - 8, y + 4.5, text, "end")

    def table(
        self,
        x: float,
        y: float,
        rows: int,
        columns: int,
        fill: Callable[[int, int], str],
        text: Callable[[int, int], str] = lambda i, j: "",
        cell: float = CELL,
    ) -> None:
        """Draw a table of cells."""
        for i in range(rows):
            for j in range(columns):
                self.box(x + j * cell, y + i * cell, cell, cell, fill(i, j), text(i, j))

    def __str__(self) -> str:
        return "\n".join([*self.parts, "</svg>\n"])


def shade(distance: int) -> str:
    """Return the colour of what is computed now (0), was one or two steps ago, is done, or not."""
    if distance < 0:
        return WHITE
    return [DARK, MIDDLE, PALE, GREY][min(distance, 3)]


def legend(figure: Figure, x: float, y: float, texts: Sequence[str]) -> None:
    """Explain the colours, the one that is computed now first."""
    for k, text in enumerate(texts):
        figure.box(x, y + 22 * k, 14, 14, [DARK, MIDDLE, PALE, GREY][k])
        figure.text(x + 22, y + 22 * k + 12, text)


def dependencies() -> Figure:
    """Draw what a cell needs, and that the cells of an anti-diagonal need none of each other."""
    figure = Figure(560, 240, "A cell needs its left, upper and upper left neighbour")
    figure.table(30, 40, 7, 9, lambda i, j: shade(7 - i - j), lambda i, j: str(i + j))
    figure.text(30, 28, "target →")
    for k, (di, dj) in enumerate(((0, -1), (-1, 0), (-1, -1))):
        x, y = 420 + 60 * dj, 130 + 60 * di
        figure.box(x, y, 40, 40, [MIDDLE, MIDDLE, PALE][k], ["E", "F", "H"][k])
    figure.box(420, 130, 40, 40, DARK, "i, j")
    figure.arrow(402, 150, 418, 150)
    figure.arrow(440, 112, 440, 128)
    figure.arrow(402, 112, 418, 128)
    figure.text(360, 200, "E: gap along the row")
    figure.text(360, 218, "F: gap along the column")
    return figure


def fragment() -> Figure:
    """Draw three buffers of the anti-diagonals of many pairs, which change roles."""
    figure = Figure(720, 330, "Anti-diagonals of N pairs in three textures that change roles")
    figure.table(20, 40, 6, 6, lambda i, j: shade(6 - i - j), lambda i, j: str(i + j))
    figure.text(20, 28, "each of N tables, pass k = 6")
    names = ("texture A: k − 2", "texture B: k − 1", "framebuffer C: k")
    for n, (name, colour, length) in enumerate(
        zip(names, (PALE, MIDDLE, DARK), (5, 6, 5), strict=True)
    ):
        x = 240 + 160 * n
        figure.text(x, 28, name)
        figure.table(x, 40, 6, 5, lambda i, j, c=colour, m=length: c if i < m else WHITE, cell=24)
        figure.text(x, 202, "pairs 1 … N →")
    figure.box(560, 40, 120, 120, "none")
    figure.text(560, 222, "one quad, N × L(k)", colour=RED)
    figure.arrow(300, 235, 300, 262)
    figure.arrow(460, 235, 460, 262)
    figure.box(240, 264, 280, 34, GREY, "fragment program: one cell each")
    figure.arrow(520, 281, 618, 230)
    figure.text(20, 240, "next pass: A ← B ← C ← A,")
    figure.text(20, 258, "no copies; the best cell flows")
    figure.text(20, 276, "along to the last one")
    return figure


def diagonal() -> Figure:
    """Draw a work group that walks along the anti-diagonals of a strip."""
    figure = Figure(720, 300, "One work group per pair, its invocations along an anti-diagonal")
    lanes, columns = 4, 10
    for lane in range(lanes):
        for j in range(columns):
            figure.box(40 + 32 * j, 40 + 32 * lane, 32, 32, shade(5 - lane - j))
        figure.text(34, 61 + 32 * lane, f"{lane}", "end")
    figure.text(40, 28, "a strip: each invocation has 8 rows; step 5")
    for j in range(columns):
        figure.box(40 + 32 * j, 180, 32, 32, WHITE)
    figure.text(34, 201, "next", "end")
    figure.box(400, 40, 150, 30, MIDDLE, "registers: H, E")
    figure.text(400, 88, "the rows of an invocation")
    figure.box(400, 104, 150, 30, PALE, "shared memory: H, F")
    figure.text(400, 152, "the last row, for the invocation below;")
    figure.text(400, 170, "then a barrier")
    figure.box(400, 186, 150, 30, GREY, "global memory")
    figure.text(400, 234, "the last row of a strip; directions or")
    figure.text(400, 252, "every n-th row, for the traceback")
    return figure


def blocked() -> Figure:
    """Draw tiles on block anti-diagonals, and the borders that they hand on."""
    figure = Figure(720, 300, "Tiles of one pair, those of a block anti-diagonal at the same time")
    cell = 40
    figure.table(30, 40, 6, 8, lambda i, j: shade(5 - i - j), lambda i, j: str(i + j), cell)
    figure.text(30, 28, "tiles of one pair, dispatch 5")
    figure.box(420, 60, 150, 150, DARK)
    figure.box(420, 50, 150, 8, MIDDLE)
    figure.box(408, 60, 8, 150, MIDDLE)
    figure.box(420, 212, 150, 8, PALE)
    figure.box(574, 60, 8, 150, PALE)
    figure.text(420, 42, "row above: H, F")
    figure.text(590, 130, "column for the")
    figure.text(590, 146, "next tile: H, E")
    figure.text(420, 238, "row for the tile below")
    figure.text(495, 130, "a work group,", "middle", WHITE)
    figure.text(495, 148, "as engine diagonal", "middle", WHITE)
    figure.text(408, 268, "only borders leave a tile:")
    figure.text(408, 286, "memory is linear in the lengths")
    return figure


def scan() -> Figure:
    """Draw the two phases of a row: from the row above, then a prefix maximum."""
    figure = Figure(720, 330, "A row at a time: from the row above, then a prefix maximum")
    columns, w = 8, 44
    figure.text(20, 34, "phase 1: all columns at once, from the row above")
    for j in range(columns):
        figure.box(20 + w * j, 44, w, 26, MIDDLE)
        figure.box(20 + w * j, 100, w, 26, DARK)
        figure.arrow(20 + w * (j + 0.5), 70, 20 + w * (j + 0.5), 98)
        if j:
            figure.arrow(20 + w * (j - 0.5), 70, 20 + w * (j + 0.42), 98)
    figure.text(390, 62, "row i − 1: H, F")
    figure.text(390, 118, "row i: F, and H without E")
    figure.text(20, 160, "phase 2: E by a prefix maximum, log₂ n steps")
    for step, distance in enumerate((1, 2, 4)):
        y = 172 + 44 * step
        for j in range(columns):
            figure.box(20 + w * j, y, w, 18, PALE if step else DARK)
            figure.arrow(20 + w * (j + 0.5), y + 18, 20 + w * (j + 0.5), y + 42)
            if j >= distance:
                figure.arrow(20 + w * (j - distance + 0.5), y + 18, 20 + w * (j + 0.44), y + 42)
        figure.text(390, y + 34, f"max with {distance} to the left, minus {distance} × gap extend")
    for j in range(columns):
        figure.box(20 + w * j, 304, w, 18, MIDDLE)
    figure.text(390, 318, "E of the row; H = max(H without E, E)")
    return figure


def wavefront() -> Figure:
    """Draw one dispatch per anti-diagonal over global memory."""
    figure = Figure(560, 250, "One dispatch per anti-diagonal, all in global memory")
    figure.table(30, 40, 7, 8, lambda i, j: shade(6 - i - j), lambda i, j: str(i + j))
    figure.text(30, 28, "dispatch 6")
    legend(
        figure,
        290,
        60,
        (
            "written now, one cell per invocation",
            "read: k − 1",
            "read: k − 2",
            "not needed any more",
        ),
    )
    figure.text(290, 180, "m + n − 1 dispatches; every value goes")
    figure.text(290, 198, "through global memory")
    return figure


def lanes() -> Figure:
    """Draw lanes that hold rows of the query, each chain with its own target."""
    figure = Figure(720, 320, "Chains of lanes, a target each, the rows of the query in registers")
    for chain in range(3):
        x = 30 + 185 * chain
        figure.text(x, 30, f"chain {chain + 1}: target {chain + 1}")
        for lane in range(3):
            for j in range(6):
                figure.box(x + 26 * j, 44 + 48 * lane, 26, 46, shade(4 - lane - j))
            for row in range(1, 4):
                y = 44 + 48 * lane + 11.5 * row
                figure.parts.append(
                    f'<line x1="{x}" x2="{x + 156}" y1="{y:g}" y2="{y:g}" stroke="{INK}" '
                    'stroke-width=".25"/>'
                )
    for lane in range(3):
        figure.text(590, 66 + 48 * lane, f"lane {lane + 1}: 8 to 32")
        figure.text(590, 82 + 48 * lane, "rows of the query")
    figure.text(
        30, 214, "Lanes of a chain are a step behind each other; the last row goes down by a"
    )
    figure.text(30, 232, "subgroup operation, or shared memory. No lane waits for another chain.")
    figure.box(30, 250, 150, 26, PALE, "target 1 | target 4")
    figure.text(192, 268, "two targets in a pair of 16-bit floats, exact below 2048;")
    figure.text(192, 286, "pairs that reach it are computed again in 32 bits")
    return figure


def bit_parallel() -> Figure:
    """Draw the differences of a column as bits of words."""
    figure = Figure(720, 290, "The differences of 32 rows of a column as bits of two words")
    values = [0, 1, 2, 2, 1, 2, 3, 3, 2]
    figure.text(40, 28, "column j")
    for i, value in enumerate(values):
        figure.box(40, 36 + 26 * i, 34, 26, DARK if i == 8 else PALE, str(value))
    for name, sign, x in (("+1", 1, 160), ("−1", -1, 250)):
        figure.text(x + 17, 28, name, "middle")
        for i in range(1, len(values)):
            bit = int(values[i] - values[i - 1] == sign)
            figure.box(x, 36 + 26 * i, 34, 26, MIDDLE if bit else WHITE, str(bit))
    figure.text(84, 52, "D")
    figure.arrow(84, 160, 150, 160)
    figure.text(330, 70, "Neighbouring cells of edit distances differ by")
    figure.text(330, 88, "−1, 0 or 1: two bits a row, 32 rows in a word.")
    figure.text(330, 120, "A column costs about 13 operations a word")
    figure.text(330, 138, "(Myers 1999); the difference of the last row")
    figure.text(330, 156, "is passed on to the next word (Hyyrö 2003).")
    figure.text(330, 188, "Which rows match a letter comes from bit")
    figure.text(330, 206, "planes of the query's letters: each lane may")
    figure.text(330, 224, "have a query of its own.")
    return figure


def windows() -> Figure:
    """Draw a long target cut into windows that overlap by the longest alignment."""
    figure = Figure(720, 200, "A long target cut into windows that overlap")
    figure.text(20, 30, "a long target")
    figure.box(20, 38, 680, 18, GREY)
    for k in range(4):
        x = 20 + 160 * k
        figure.box(x, 76 + 22 * k, 200, 18, MIDDLE if k != 1 else DARK)
        figure.text(x + 8, 90 + 22 * k, f"window {k + 1}", colour=WHITE if k == 1 else INK)
    figure.box(340, 38, 40, 18, RED)
    figure.text(360, 30, "longest alignment", "middle", RED)
    figure.text(
        20,
        186,
        "They overlap by the longest span of an alignment, so each lies in one as a whole.",
    )
    return figure


def subtable() -> Figure:
    """Draw a cube of sub-tables, those of a diagonal plane alike."""
    figure = Figure(720, 365, "Three sequences: sub-tables on a diagonal plane at the same time")

    def at(i: float, j: float, k: float) -> tuple[float, float]:
        return 190 + 34 * (j - k), 60 + 17 * (j + k) + 38 * i

    size, now = 4, 5
    for i in reversed(range(size)):
        for k in range(size):
            for j in range(size):
                if i + 1 < size and j + 1 < size and k + 1 < size and i > 0:
                    continue
                colour = shade(now - i - j - k)
                if i == 0:
                    figure.polygon(
                        [at(0, j, k), at(0, j + 1, k), at(0, j + 1, k + 1), at(0, j, k + 1)], colour
                    )
                if k == size - 1:
                    figure.polygon(
                        [
                            at(i, j, size),
                            at(i, j + 1, size),
                            at(i + 1, j + 1, size),
                            at(i + 1, j, size),
                        ],
                        colour,
                    )
                if j == size - 1:
                    figure.polygon(
                        [
                            at(i, size, k),
                            at(i, size, k + 1),
                            at(i + 1, size, k + 1),
                            at(i + 1, size, k),
                        ],
                        colour,
                    )
    figure.text(330, 60, "sequence 2, 3: across; sequence 1: down")
    legend(figure, 400, 90, ("sub-tables computed now", "one step ago", "two steps ago", "done"))
    figure.text(400, 200, "A cell needs its seven neighbours, so those")
    figure.text(400, 218, "with equal i + j + k are independent.")
    figure.text(400, 250, "An invocation keeps a sub-table in registers")
    figure.text(400, 268, "and hands its sides on: in shared memory in")
    figure.text(400, 286, "a work group, in global memory between them.")
    return figure


def calibration() -> Figure:
    """Draw chance hits per expected one, from the rows `calibration` of BLOSUM62."""
    names = {"like Swiss-Prot": "lengths of Swiss-Prot", "Robinson, 1000 letters": "1,000 residues"}
    names["Robinson, 100 letters"] = "100 residues"
    colours = dict(zip(names, (DARK, "#009e73", RED), strict=True))
    lines: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in map(json.loads, ROWS.read_text(encoding="utf-8").splitlines()):
        if (row.get("workload"), row.get("scoring", "")[:8]) == ("calibration", "BLOSUM62"):
            kind, method, evalue = re.split(r", (?=karlin|fit|E-)", row["options"])
            if float(re.findall(r"[\d.]+", row["note"])[1]) >= 5:  # expected
                line = lines.setdefault((kind, method), [])
                line.append((float(evalue.split()[1]), row["rate"]))
    at_1 = {
        fit: [
            rate
            for (_, how), line in lines.items()
            if (how == "fit") == fit
            for evalue, rate in line
            if evalue >= 1
        ]
        for fit in (True, False)
    }
    off = max(abs(rate - 1) for rate in at_1[True])
    figure = Figure(760, 400, "Observed chance hits divided by expected ones, by E-value")
    figure.text(
        20,
        28,
        f"With E-values from 1 to 10, the fit predicts the number of chance hits within "
        f"{100 * off:.0f} %;",
    )
    figure.text(
        20,
        46,
        f"published constants give up to {max(at_1[False]):.1f} times as many, most "
        "for short proteins",
    )
    left, right, top, bottom = 60, 540, 84, 350

    def place(evalue: float, rate: float) -> tuple[float, float]:
        across = (math.log10(evalue) + 1.6) / 2.7
        return left + across * (right - left), bottom - rate / 2.5 * (bottom - top)

    for tick in (0, 0.5, 1, 1.5, 2, 2.5):
        figure.tick(left, right, place(1, tick)[1], f"{tick:g}", INK if tick == 1 else GREY)
    for evalue in (0.03, 0.1, 0.3, 1, 3, 10):
        figure.text(place(evalue, 0)[0], bottom + 20, f"{evalue:g}", "middle")
    figure.text((left + right) / 2, bottom + 40, "hits with at most this E-value", "middle")
    figure.text(left, top - 6, "observed / expected")
    for (kind, method), line in lines.items():
        points = [place(*point) for point in line]
        figure.line(points, colours[kind], "" if method == "fit" else "6 4")
        figure.parts += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colours[kind]}"/>' for x, y in points
        ]
    for k, (kind, name) in enumerate(reversed(names.items())):
        figure.box(right + 20, top + 10 + 24 * k, 14, 14, colours[kind])
        figure.text(right + 42, top + 22 + 24 * k, name)
    for k, (name, dashes) in enumerate((("published constants", "6 4"), ("fit", ""))):
        y = top + 106 + 24 * k
        figure.parts.append(
            f'<line x1="{right + 14}" x2="{right + 40}" y1="{y}" y2="{y}" stroke="{INK}" '
            f'stroke-width="2.2" stroke-dasharray="{dashes}"/>'
        )
        figure.text(right + 48, y + 4.5, name)
    figure.text(right + 14, top + 180, "random proteins,")
    figure.text(right + 14, top + 198, "BLOSUM62 11/1;")
    figure.text(right + 14, top + 216, "points with at least")
    figure.text(right + 14, top + 234, "5 expected hits")
    return figure


def sensitivity() -> Figure:
    """Draw which share of related domains programs find, by errors, from rows `sensitivity`."""
    drawn = {
        "glsw sums, 3 rounds": (DARK, "", -7),
        "jackhmmer 0.005, 3 rounds": (RED, "6 4", 4),
        "jackhmmer, 3 rounds": (RED, "", 0),
        "glsw, 3 rounds": (DARK, "6 4", 8),
        "psiblast, 3 rounds": ("#009e73", "", 0),
        "blastp, 1 round": ("#009e73", "2 3", 0),
    }
    lines: dict[str, list[tuple[float, float]]] = {name: [] for name in drawn}
    for row in map(json.loads, ROWS.read_text(encoding="utf-8").splitlines()):
        if (row.get("task"), row.get("program") in drawn) == ("pairs", True):
            lines[row["program"]].append((float(row["options"].split()[0]), row["rate"]))
    figure = Figure(760, 420, "Related domains found, by errors per query")
    figure.text(
        20, 28, "Three rounds of glsw with --sums find about as many relatives as jackhmmer,"
    )
    figure.text(20, 46, "and more than psiblast and blastp")
    left, right, top, bottom = 60, 540, 84, 370

    def place(errors: float, rate: float) -> tuple[float, float]:
        across = (math.log10(errors) + 3) / 4
        return left + across * (right - left), bottom - rate / 0.21 * (bottom - top)

    for tick in (0, 5, 10, 15, 20):
        figure.tick(left, right, place(1, tick / 100)[1], f"{tick}")
    for errors in (0.001, 0.01, 0.1, 1, 10):
        figure.text(place(errors, 0)[0], bottom + 20, f"{errors:g}", "middle")
    figure.text((left + right) / 2, bottom + 40, "errors (different folds) per query", "middle")
    figure.text(left, top - 6, "pairs of the same superfamily found, %")
    for name, (colour, dashes, lower) in drawn.items():
        points = [place(*point) for point in lines[name]]
        figure.line(points, colour, dashes)
        figure.text(right + 8, points[-1][1] + 4.5 + lower, name, colour=colour)
    return figure


FIGURES = (
    dependencies,
    fragment,
    diagonal,
    blocked,
    scan,
    wavefront,
    lanes,
    bit_parallel,
    windows,
    subtable,
    calibration,
    sensitivity,
)


def main(argv: Sequence[str]) -> int:
    """Write the figures or, with --check, compare them; return 1 if they differ."""
    FOLDER.mkdir(exist_ok=True)
    status = 0
    for draw in FIGURES:
        path, text = FOLDER / f"{draw.__name__}.svg", str(draw())
        if list(argv) != ["--check"]:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"{path}: run python docs/figures.py", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
