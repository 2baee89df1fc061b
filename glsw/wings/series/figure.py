"""A figure of a comparison: the best motif in its series, and the similarity of all channels."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from glsw.wings.series.motifs import Comparison, Motif
from glsw.wings.series.table import chance_text, decimals, score_text
from glsw.words import in_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
_COLOURS = ("#0072B2", "#D55E00", "#009E73")
"""Blue, vermilion and green of Okabe and Ito, distinct for any kind of colour vision."""
_MAX_NAMES = 72  # of the channels on an axis of the map


def check(path: str) -> None:
    """Raise ValueError if `write` could not write this file."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ValueError(f"{path}: a figure must be named {', '.join(SUFFIXES)}")
    if importlib.util.find_spec("matplotlib") is None:
        raise ValueError(f"{path}: figures need matplotlib: pip install 'glsw[series]'")


def write(comparison: Comparison, motif: Motif | None, path: str) -> None:
    """Draw a comparison and its best motif, or None, into a file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # letters that the font lacks
        draw(comparison, motif).savefig(path, dpi=150)


def draw(comparison: Comparison, motif: Motif | None) -> Figure:
    """Return a matplotlib figure of a comparison and its best motif.

    On the left are the detrended series of the motif, one above the other, and in bold the means
    that became letters; bands mark the similar segments, and lines connect them. On the right is
    the map: the score of each pair of channels, or of the best triple with both; frames mark the
    channels of the motif.
    """
    from matplotlib.figure import Figure

    channels = len(comparison.words)
    side = min(max(5.0, 0.155 * min(channels, _MAX_NAMES)), 11.0)
    figure = Figure(figsize=(side + 8.6, side + 1.1), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(7.2, side + 1.4))
    _series(left, comparison, motif)
    _map(figure, right, comparison, motif)
    return figure


def _series(axes: Axes, comparison: Comparison, motif: Motif | None) -> None:
    recording = comparison.words.recording
    axes.set_xlabel("time (s)")
    axes.set_xlim(*recording.edges[[0, -1]])
    axes.spines[["top", "right", "left"]].set_visible(False)
    if motif is None:
        axes.set_title("no motif scores enough")
        axes.set_yticks([])
        return
    names = recording.channels
    rows = [names.index(channel) for channel in motif.channels]
    normal = comparison.words.normal[rows]
    means = comparison.words.means[rows]
    low, high = np.nanmin(normal, axis=1), np.nanmax(normal, axis=1)
    half = 0.55 * (high - low).max()
    heights = -2.3 * half * np.arange(len(rows))
    digits = decimals(comparison)
    for k, height in enumerate(heights):
        colour = _COLOURS[k]
        start, end = motif.seconds[k]
        mean = height - (low[k] + high[k]) / 2
        axes.axhline(mean, color="0.85", linewidth=0.8, zorder=0)
        axes.fill_between(
            [start, end],
            height - half,
            height + half,
            color=colour,
            alpha=0.18,
            linewidth=0,
            label="segment",
        )
        axes.plot(recording.times, normal[k] + mean, color=colour, alpha=0.45, linewidth=0.7)
        axes.stairs(
            means[k] + mean, comparison.words.edges, baseline=None, color=colour, linewidth=1.6
        )
        axes.annotate(
            f"{start:.{digits}f} - {end:.{digits}f} s",
            ((start + end) / 2, height + half),
            (0, 3),
            textcoords="offset points",
            color=colour,
            ha="center",
            va="bottom",
            fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )
        if k:
            for before, here in zip(motif.seconds[k - 1], motif.seconds[k], strict=True):
                ends = [heights[k - 1] - half, height + half]
                axes.plot([before, here], ends, color="0.35", linewidth=0.9, linestyle=":")
    axes.set_yticks(heights, [in_figure(name) for name in motif.channels])
    for label, colour in zip(axes.get_yticklabels(), _COLOURS, strict=False):
        label.set(color=colour, fontweight="bold")
    axes.tick_params(axis="y", length=0)
    score = score_text(comparison, motif.score)
    parts = [f"score {score}", f"{motif.equal} of {motif.columns} letters equal"]
    if comparison.significance:
        parts.insert(1, f"p = {chance_text(motif.pvalue)}")
    axes.set_title(f"Best motif: {', '.join(parts)}")


def _map(figure: Figure, axes: Axes, comparison: Comparison, motif: Motif | None) -> None:
    names = [in_figure(name) for name in comparison.words.recording.channels]
    highest = max(np.nanmax(comparison.similarity), 1)
    image = axes.imshow(
        comparison.similarity, cmap="cividis", interpolation="nearest", vmin=0, vmax=highest
    )
    axes.set_anchor("N")
    step = -(-len(names) // _MAX_NAMES)
    shown = range(0, len(names), step)
    size = float(np.clip(330 / len(shown), 5.5, 9))
    axes.set_xticks(shown, [names[k] for k in shown], rotation=90, fontsize=size)
    axes.set_yticks(shown, [names[k] for k in shown], fontsize=size)
    axes.tick_params(length=2)
    pairs = comparison.of == 2
    axes.set_title("Score of each pair" if pairs else "Score of the best triple with both channels")
    bar = figure.colorbar(image, ax=axes, fraction=0.046, pad=0.02)
    bar.set_label("score")
    if motif is not None:
        chosen = [comparison.words.recording.channels.index(name) for name in motif.channels]
        _frames(axes, chosen)


def _frames(axes: Axes, chosen: list[int]) -> None:
    """Frame the cells of the channels of a motif."""
    from matplotlib.patches import Rectangle

    for a in chosen:
        for b in chosen:
            if a != b:
                axes.add_patch(
                    Rectangle((b - 0.5, a - 0.5), 1, 1, fill=False, edgecolor="#D55E00", lw=1.5)
                )
