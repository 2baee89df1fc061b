"""Devices that return garbage: each task ends, with a result or with `DeviceError`."""

from __future__ import annotations

import re
import resource
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import moderngl
import numpy as np
import pytest

from glsw.alignment.batch import Batch
from glsw.alignment.paths import Ends, Paths
from glsw.device.device import Device, DeviceError
from glsw.device.transfer import Readback
from glsw.engines.gl import Programs

SECONDS = 20  # of a call: more than a hundred times what it takes
MEMORY = 2**32  # bytes that a call may ask for
on_linux = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="memory is measured as on Linux"
)
Garbage = Callable[[np.random.Generator, np.ndarray], np.ndarray]


def some_words(rng: np.random.Generator, words: np.ndarray) -> np.ndarray:
    """Replace one word in eight."""
    wrong = rng.random(len(words)) < 0.125
    return np.where(wrong, rng.integers(-(2**31), 2**31, len(words), np.int32), words)


def nearly_right(rng: np.random.Generator, words: np.ndarray) -> np.ndarray:
    """Change one word in four by a little, as a bit does that has flipped."""
    wrong = rng.random(len(words)) < 0.25
    return words ^ wrong * (np.int32(1) << rng.integers(0, 8, len(words), np.int32))


GARBAGE: dict[str, Garbage] = {
    "zeros": lambda rng, words: np.zeros_like(words),
    "all ones": lambda rng, words: np.full_like(words, -1),
    "huge": lambda rng, words: np.full_like(words, 2**31 - 1),
    "large": lambda rng, words: rng.integers(2**10, 2**30, len(words), np.int32),
    "small": lambda rng, words: rng.integers(0, 40, len(words), np.int32),
    "random": lambda rng, words: rng.integers(-(2**31), 2**31, len(words), np.int32),
    "some words": some_words,
    "nearly right": nearly_right,
}


@contextmanager
def returning(garbage: Garbage, seed: int) -> Iterator[None]:
    """Have all devices return garbage, in time and in little memory, whatever is done with it."""
    rng = np.random.default_rng(seed)
    read, drawn = moderngl.Buffer.read, moderngl.Framebuffer.read

    def wrong(data: bytes) -> bytes:
        words = np.frombuffer(data, np.int32)
        return garbage(rng, words).astype(np.int32).tobytes()

    def wrongly_into(
        buffer: moderngl.Buffer, array: np.ndarray, *sizes: int, **places: int
    ) -> None:
        found = np.frombuffer(wrong(read(buffer, *sizes, **places)), np.uint8)
        array.reshape(-1).view(np.uint8)[: len(found)] = found

    def late(*_: object) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, late)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Readback, "_trust", lambda *_, **__: None
        )  # it computes them, and stores them so
        patch.setattr(moderngl.Buffer, "read", lambda *words, **sizes: wrong(read(*words, **sizes)))
        patch.setattr(moderngl.Buffer, "read_into", wrongly_into)
        patch.setattr(
            moderngl.Framebuffer, "read", lambda *words, **sizes: wrong(drawn(*words, **sizes))
        )
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, limits[1]))
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            resource.setrlimit(resource.RLIMIT_AS, limits)
            signal.signal(signal.SIGALRM, before)


def judge(task: Callable[[], None], device: Device) -> None:
    """Do a task with each kind of garbage: it ends, or there is one clear line."""
    task()  # what the device returns is right
    for seed, (name, garbage) in enumerate(GARBAGE.items()):
        try:
            with returning(garbage, seed), warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".*waited in vain", RuntimeWarning)
                task()
        except DeviceError as error:
            said = str(error)
        except Exception as error:
            raise AssertionError(f"{name}: {type(error).__name__} {error}") from error
        else:
            continue
        clear = rf"engine .* on {re.escape(device.info.name)} returned .* 'glsw devices --test' .*"
        assert re.fullmatch(clear, said) or "waited in vain" in said, said


def check_ends(ends: Ends, batch: Batch) -> None:
    assert ends.score.shape == (len(batch),)
    assert ends.score.dtype == np.int32
    assert ends.end.shape == (len(batch), batch.k)
    assert (ends.end >= 0).all()
    assert (ends.end <= batch.lengths).all()


def check_paths(paths: Paths, batch: Batch) -> None:
    check_ends(paths.ends, batch)
    assert len(paths.offsets) == len(batch) + 1
    for p in range(len(batch)):
        at = paths.coordinates(p)
        assert at.shape[0] == batch.k
        assert (at >= 0).all()
        assert (np.diff(at) >= 0).all()
        assert np.diff(at).any(axis=0).all()


@contextmanager
def wrong_directions() -> Iterator[None]:
    """Have each traceback on the device read other directions, and other best cells."""
    program, rng = Programs.program, np.random.default_rng(5)

    def programs(self: Programs, name: str, **defines: int | None) -> moderngl.ComputeShader:
        for binding, buffer in self._buffers.items():
            wrong = binding.name == "DIRECTIONS" or (name, binding.name) == (
                "traceback.comp",
                "BEST",
            )
            if "trace" in name and wrong:
                buffer.write(rng.bytes(buffer.size))
        return program(self, name, **defines)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Programs, "program", programs)
        yield


def in_time(task: Callable[[], None]) -> None:
    """Do a task with what the device returns, many times."""
    for _ in range(10):
        with suppress(DeviceError), returning(lambda _, words: words, 0):
            task()
