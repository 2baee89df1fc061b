"""Generate ``recording.csv`` (see README.md): ``python recording.py``.

Ten channels, 100 s at 5 samples a second, of what looks like changes of blood flow: slow waves of
each channel's own, a heartbeat, drift, and noise of the sensor. `PLANTED` says in which three of
them the same response stands, and when it begins. The seed is fixed; every number is random or
made up, and nothing was measured.
"""

import csv
from pathlib import Path

import numpy as np

SEED = 2012
RATE, SECONDS, CHANNELS = 5, 100, 10
RESPONSE = 33
"""Seconds that the response lasts."""

PLANTED = {3: 9.0, 6: 64.0, 8: 36.0}
"""Where the response begins, in s, by the number of the channel."""

PEAKS = ((-1.2, 4.5, 1.7), (2.3, 10.5, 2.2), (1.0, 17, 1.8), (-1.7, 22.5, 1.9), (1.3, 28.5, 1.8))
"""Of which the response is the sum: height, time in s, width in s."""


def response(time: np.ndarray) -> np.ndarray:
    """Return the response, shape (samples,); ``time`` is in s from where it begins."""
    return sum(height * np.exp(-(((time - at) / width) ** 2) / 2) for height, at, width in PEAKS)


def waves(time: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return slow waves of 6 to 30 s that never repeat, shape (samples,), of deviation 1."""
    frequencies, phases = random.uniform(1 / 30, 1 / 6, 12), random.uniform(0, 2 * np.pi, 12)
    series = np.cos(2 * np.pi * frequencies * time[:, None] + phases).sum(axis=1)
    return series / series.std()


def channel(number: int, time: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return the samples of a channel, shape (samples,)."""
    series = waves(time, random)
    if number in PLANTED:
        here = time - PLANTED[number]
        share = np.clip(np.minimum(here, RESPONSE - here) / 2, 0, 1)
        series = (1 - share) * series + share * response(here)
    drift = 0.1 * np.cos(np.pi * time / SECONDS + random.uniform(0, 2 * np.pi))
    heart = 0.1 * np.cos(2 * np.pi * (random.uniform(1, 1.2) * time + random.uniform()))
    return series + drift + heart + random.normal(0, 0.03, len(time))


def main() -> None:
    """Write the file beside this one."""
    random = np.random.default_rng(SEED)
    time = np.arange(RATE * SECONDS) / RATE
    columns = [channel(number, time, random) for number in range(1, CHANNELS + 1)]
    with Path(__file__).with_name("recording.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["time", *(f"CH{number}" for number in range(1, CHANNELS + 1))])
        for at, row in zip(time, np.transpose(columns), strict=True):
            table.writerow([f"{at:.1f}", *(f"{value:.4f}" for value in row)])


if __name__ == "__main__":
    main()
