"""Devices that lie now and then: one read of a result is damaged on its way to the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import moderngl
import numpy as np

Words = np.ndarray
Damage = Callable[[np.random.Generator, Words, Words], Words]
"""From the words that were read, and those of the last read of this buffer, to others."""


def _rotated(rng: np.random.Generator, words: Words, _: Words) -> Words:
    return np.roll(words, rng.integers(1, max(2, len(words))))


def _halved(_: np.random.Generator, words: Words, __: Words) -> Words:
    return np.where(np.arange(len(words)) < len(words) // 2, words, 0)


def _swapped(rng: np.random.Generator, words: Words, _: Words) -> Words:
    a, b = rng.integers(0, len(words), 2)
    found = words.copy()
    found[[a, b]] = words[[b, a]]
    return found


def _one_bit(lowest: int, behind: int) -> Damage:
    def damage(rng: np.random.Generator, words: Words, _: Words) -> Words:
        found = words.copy()
        found[rng.integers(len(words))] ^= np.uint32(1) << np.uint32(rng.integers(lowest, behind))
        return found

    return damage


DAMAGE: dict[str, Damage] = {
    "all zero": lambda _, words, __: np.zeros_like(words),
    "stale": lambda _, words, before: np.append(before, words[len(before) :])[: len(words)],
    "rotated": _rotated,
    "second half zero": _halved,
    "two words swapped": _swapped,
    "one low bit": _one_bit(0, 4),
    "one high bit": _one_bit(4, 32),
}


@dataclass
class Reads:
    """All reads of results; one of them is damaged.

    Parameters
    ----------
    damage : callable, optional
        One of `DAMAGE`.
    at : int, optional
        The number of the read, from 0.
    """

    damage: Damage = lambda _, words, __: words
    at: int = -1
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))
    count: int = 0
    before: dict[int, Words] = field(default_factory=dict)

    def taken(self, name: int, content: bytes) -> bytes:
        """Return what the host gets of a read."""
        words = np.frombuffer(content, np.uint32, len(content) // 4)
        found = words
        if self.count == self.at and len(words):
            found = self.damage(self.rng, words, self.before.get(name, words))
        self.count += 1
        self.before[name] = words.copy()
        return found.astype(np.uint32).tobytes() + content[words.nbytes :]


@contextmanager
def reading(reads: Reads) -> Iterator[None]:
    """In this block all reads of buffers and of pixels pass through ``reads``."""
    read, drawn = moderngl.Buffer.read, moderngl.Framebuffer.read

    def buffer_read(buffer: moderngl.Buffer, *words: int, **sizes: int) -> bytes:
        return reads.taken(buffer.glo, read(buffer, *words, **sizes))

    def read_into(buffer: moderngl.Buffer, array: Any, size: int = -1, **more: int) -> None:
        content = reads.taken(buffer.glo, read(buffer, size, **more))
        found = np.frombuffer(content, np.uint8)
        np.asarray(array).reshape(-1).view(np.uint8)[: len(found)] = found

    def pixels(framebuffer: moderngl.Framebuffer, *words: Any, **more: Any) -> bytes:
        return reads.taken(-framebuffer.glo, drawn(framebuffer, *words, **more))

    with (
        patch.object(moderngl.Buffer, "read", buffer_read),
        patch.object(moderngl.Buffer, "read_into", read_into),
        patch.object(moderngl.Framebuffer, "read", pixels),
    ):
        yield
