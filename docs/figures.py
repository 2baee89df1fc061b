"""Figures of rows of the benchmark as SVG, for STATISTICS.md and SENSITIVITY.md.

python docs/figures.py          # writes docs/figures/*.svg
python docs/figures.py --check  # exit status 1 if they are others
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "figures"
ROWS = FOLDER.parents[1] / "bench" / "results" / "llvmpipe.ndjson"
DARK, GREY, RED = "#2464a4", "#eceff2", "#c2410c"
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

    def box(self, x: float, y: float, w: float, h: float, fill: str) -> None:
        """Draw a box."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{fill}" '
            f'stroke="{INK}" stroke-width=".8"/>'
        )

    def text(self, x: float, y: float, text: str, anchor: str = "start", colour: str = INK) -> None:
        """Write a text."""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{colour}">{text}</text>'
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

    def __str__(self) -> str:
        return "\n".join([*self.parts, "</svg>\n"])


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


FIGURES = calibration, sensitivity


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
