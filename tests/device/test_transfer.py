"""Uploads and downloads through mapped memory."""

import numpy as np
import pytest
from cases import standing_in
from damaged_reads import DAMAGE, Reads, reading
from smaller import smaller

from glsw.device import transfer
from glsw.device.current import UnreliableError
from glsw.device.transfer import Readback, Staging


@pytest.fixture
def made(device):
    """Return a function that makes blocks of 100 bytes, for arrays of 10 bytes and more."""
    every = []

    def make():
        every.append(Staging(device.ctx, device.check, block=100, least=10))
        return every[-1]

    yield make
    for each in every:
        each.close()


def test_arrays_of_any_size_arrive(device, made):
    uploads, rng = made(), np.random.default_rng(1)
    assert uploads.works == (device.info.version >= (4, 4))
    for size in (1, 9, 10, 99, 100, 101, 399, 400, 401, 5000):
        array = rng.integers(0, 256, size, np.uint8)
        buffer = device.ctx.buffer(reserve=5000)
        uploads.write(buffer, array)
        copy = array.copy()
        array[:] = 0
        assert np.frombuffer(buffer.read(size), np.uint8).tolist() == copy.tolist()
    words = rng.integers(0, 2**32, (50, 2), np.uint32)
    uploads.write(buffer, words)
    assert np.frombuffer(buffer.read(400), np.uint32).tolist() == words.ravel().tolist()
    device.check("tests")


def test_without_mapped_memory_the_driver_copies(device, made, monkeypatch):
    smaller(monkeypatch, mapped_since=1000)
    uploads = made()
    assert not uploads.works
    array = np.arange(1000, dtype=np.uint32)
    buffer = device.ctx.buffer(reserve=4000)
    uploads.write(buffer, array)
    assert np.frombuffer(buffer.read(), np.uint32).tolist() == array.tolist()


@pytest.mark.parametrize("mapped", [True, False])
def test_threads_fill_what_is_uploaded(device, made, monkeypatch, mapped):
    """From any place of a file on; an error of a thread is raised, and harms nothing later."""
    if not mapped:
        smaller(monkeypatch, mapped_since=1000)
    uploads, content = made(), np.random.default_rng(4).integers(0, 256, 3000, np.uint8)
    buffer, ends = device.ctx.buffer(reserve=1000), set()

    def upload(first, wrong=3000):
        def fill(found, start):
            ends.add((first + start + len(found)) % 100)
            if start <= wrong < start + len(found):
                raise ValueError("damaged")
            found[:] = content[first + start : first + start + len(found)]

        return uploads.uploads(buffer, 1000, fill, first)

    for first in (0, 7, 2000):
        for wrong in (0, 450, 999):
            with pytest.raises(ValueError, match="damaged"):
                list(upload(first, wrong))
        next(upload(first))  # nobody wants the rest
        list(upload(first))
        assert buffer.read(1000) == content[first : first + 1000].tobytes()
    assert not uploads.works or ends == {0, 7}
    device.check("tests")


def test_hardware_takes_them(device, made, monkeypatch):
    monkeypatch.setattr(device, "_staging", uploads := made())
    written = []
    monkeypatch.setattr(uploads, "write", lambda buffer, array: written.append(array.nbytes))
    buffer = device.ctx.buffer(reserve=400)
    standing_in(device).write(buffer, np.zeros(100, np.uint32))
    assert written == [400]


class Reached:
    """A fence that the device has or has not reached."""

    def __init__(self, at_once):
        self.at_once, self.waited = at_once, 0

    def passed(self):
        return self.at_once

    def wait(self):
        self.waited += 1


@pytest.mark.parametrize(
    ("at_once", "there", "blocks", "waits"),
    [(True, 9, 2, 48), (False, 9, 8, 42), (False, 0, 1, 49), (False, 2, 3, 47)],
)
def test_new_blocks_are_for_a_busy_device(device, made, monkeypatch, at_once, there, blocks, waits):
    uploads, mapped, fences, new = made(), transfer._mapped, [], []
    if not uploads.works:
        pytest.skip("no mapped memory")

    def map_some(*given):
        new.append(len(new) < there)
        return mapped(*given) if new[-1] else (0, None)

    def fence(_):
        device.ctx.finish()  # so that it is reached in truth
        fences.append(Reached(at_once))
        return fences[-1]

    monkeypatch.setattr(transfer, "_mapped", map_some)
    monkeypatch.setattr(transfer, "Fence", fence)
    array = np.random.default_rng(2).integers(0, 256, 5000, np.uint8)
    buffer = device.ctx.buffer(reserve=5000)
    for start in range(0, 5000, 2500):  # two calls
        uploads.write(buffer, array[start : start + 2500])
        assert buffer.read(2500) == array[start : start + 2500].tobytes()
    assert (1 + sum(new), sum(each.waited for each in fences)) == (blocks, waits)
    assert all(each.waited <= 1 for each in fences)
    device.check("tests")


# downloads


@pytest.mark.parametrize("memory", ["mapped", "not mapped"])
def test_what_is_read_is_what_was_there_then(device, monkeypatch, memory):
    if memory == "not mapped":
        smaller(monkeypatch, mapped_since=1000)
    back = Readback(device, software=False, least=16, most=4000)
    rng = np.random.default_rng(1)
    for sizes in ([16], [8, 4], [400, 0, 40], [4], [4000, 4], [1000, 2000]):
        arrays = [rng.integers(0, 256, size, np.uint8) for size in sizes]
        buffers = [device.ctx.buffer(array.tobytes() + bytes(8)) for array in arrays]
        taken = back.begin([(buffer, size) for buffer, size in zip(buffers, sizes, strict=True)])
        for buffer in buffers:
            buffer.write(bytes(buffer.size))
        found = taken()
        assert [each.tolist() for each in found] == [each.tolist() for each in arrays]
    device.check("tests")


@pytest.mark.parametrize("memory", ["mapped", "not mapped"])
def test_what_arrives_otherwise_is_refused(device, monkeypatch, memory):
    if memory == "not mapped":
        smaller(monkeypatch, mapped_since=1000)
    back = Readback(device, software=False, least=16)
    words = np.random.default_rng(2).integers(0, 2**32, 3 * 2**13 + 5, np.uint32)
    parts = np.split(words, [7, 2**14])
    buffers = [device.ctx.buffer(part.tobytes()) for part in parts]
    wanted = [(buffer, buffer.size) for buffer in buffers]
    assert [each.tobytes() for each in back.begin(wanted)()] == [each.tobytes() for each in parts]

    def read(reads: Reads) -> None:
        with reading(reads):
            taken = back.begin(wanted)
            if memory == "mapped":
                device.ctx.finish()
                mapped, reads.count = back._memory[28 : 4 * 2**14], 1
                mapped[:] = np.frombuffer(reads.taken(buffers[1].glo, mapped.tobytes()), np.uint8)
            taken()

    for damage in DAMAGE.values():
        with pytest.raises(UnreliableError, match="did not arrive"):
            read(Reads(damage, 1, before={buffer.glo: words[:9] for buffer in buffers}))
        assert device.trouble
        device.trouble = ""
    device.check("tests")


@pytest.mark.parametrize("damage", DAMAGE)
def test_no_damage_leaves_the_sums(damage):
    """Small numbers of which many sums are alike, in few words and in many."""
    rng = np.random.default_rng(5)
    for count in [*range(2, 40), 4096, 8192, 2**20 + 5]:
        for _ in range(2 + 400 // count):
            words, before = rng.integers(0, 50, (2, count), np.uint32)
            other = DAMAGE[damage](rng, words, before).astype(np.uint32)
            sums = [transfer.sums_of([each.view(np.uint8)])[:2] for each in (words, other)]
            assert (sums[0] == sums[1]) == np.array_equal(words, other)


def test_software_renderers_are_read_at_once(device):
    buffer = device.ctx.buffer(b"12345678")
    back = Readback(device, software=True, least=1)
    assert not back.reserve(4)
    (found,) = back.begin([(buffer, 4)])()
    assert found.tobytes() == b"1234"
