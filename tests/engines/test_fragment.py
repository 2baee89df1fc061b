"""What is particular to engine ``fragment``: textures, numbers of 16 bits, passes."""

import ctypes
import types

import cases
import moderngl
import numpy as np
import parasail
import pytest
from cases import CASES, CORE, END_CASES, END_FEW, judge

import glsw.engines.fragment
from glsw.alignment.batch import Batch
from glsw.device import shader
from glsw.device.context import gl_function, routes
from glsw.device.device import Device, DeviceError
from glsw.engines import throttle
from glsw.engines.fragment import Fragment
from glsw.scoring.scoring import Scoring

BLOSUM62 = CASES["BLOSUM62 12 1"].scoring
LIMIT = CASES["limit 900 1"].scoring  # A with A scores 1024, B with B 1023, C with C 1


def letters(length, seed=0, of=20):
    return np.random.default_rng([length, seed]).integers(0, of, length).astype(np.uint8)


@pytest.fixture
def calls(monkeypatch):
    """``calls(owner, name)``: a list that grows by the arguments of each call."""

    def watch(owner, name):
        seen = []
        real = getattr(owner, name)

        def call(*arguments, **options):
            seen.append((arguments, options))
            return real(*arguments, **options)

        monkeypatch.setattr(owner, name, call)
        return seen

    return watch


# limits of textures


@pytest.mark.parametrize(("options", "longest"), [({}, 64), ({"tile": 4}, 32), ({"tile": 1}, 16)])
def test_longest_sequence(device, options, longest):
    engine = Fragment(LIMIT, cases.limited(device, max_texture_size=16), **options)
    assert engine.longest == longest
    short, fits, beyond = (letters(n, of=3) for n in (5, longest, longest + 1))
    batch = Batch.pairwise([fits, fits, short], [fits, short, fits])
    judge(engine, cases.Case("as long as textures", LIMIT, batch))
    for what, pair in (("query", (beyond, short)), ("target", (short, beyond))):
        message = (
            f"{what} of {longest + 1} residues: engine 'fragment' takes at most {longest} on "
            f".* \\(texture limit 16\\)"
        )
        for method in (engine.scores, engine.ends):
            with pytest.raises(ValueError, match=message):
                method(Batch.pairwise([short, pair[0]], [short, pair[1]]))
    assert engine.scores(batch).tolist() == engine.ends(batch).score.tolist()


@pytest.mark.parametrize(("tile", "swap"), [(8, False), (4, True)])
def test_longest_sequence_of_the_device(device, tile, swap):
    engine = Fragment(BLOSUM62, device, tile=tile)
    short, long = letters(9), letters(engine.longest)
    long[-9:] = short
    query, target = (short, long) if swap else (long, short)
    decode = BLOSUM62.alphabet.decode
    score = parasail.sw_scan_32(decode(query), decode(target), 12, 1, parasail.blosum62).score
    ends = engine.ends(Batch.one_to_many(query, [target]))
    assert ends.score.tolist() == [score]
    assert ends.query_end.tolist() == [len(query)]
    assert ends.target_end.tolist() == [len(target)]


def test_gl_errors_are_raised(device):
    limit = device.info.limits["max_texture_size"]
    engine = Fragment(BLOSUM62, cases.limited(device, max_texture_size=100 * limit), tile=1)
    for pair in ((letters(limit + 1), letters(3)), (letters(3), letters(limit + 1))):
        with pytest.raises(DeviceError, match=f"allocating a texture of {limit + 1} x .*GL error"):
            engine.scores(Batch.pairwise([pair[0]], [pair[1]]))
    device.check("the error was read")


# 16 and 32 bits


@pytest.fixture
def tiles(calls):
    """``tiles()``: the sizes of the tiles drawn since it was last called, in order."""
    seen = calls(shader, "render")

    def drawn():
        found = [options["TILE"] for arguments, options in seen if arguments[2] == "fragment.frag"]
        seen.clear()
        return list(dict.fromkeys(found))

    return drawn


@pytest.mark.parametrize("tile", [8, 4])
def test_only_scores_beyond_16_bits_are_repeated(device, tiles, calls, tile):
    fits, beyond = np.repeat(cases.codes(0, 1), (31, 1)), np.repeat(cases.codes(0), 32)
    engine = Fragment(LIMIT, device, tile=tile)
    batch = Batch.one_to_many(beyond, [fits[:31], fits[1:]])
    assert engine.scores(batch).tolist() == [31744, 30720]
    assert tiles() == [tile]
    drawn = calls(glsw.engines.fragment, "padded")
    batch = Batch.pairwise([fits, beyond, fits], [fits, beyond, fits])
    assert engine.scores(batch).tolist() == [32767, 32768, 32767]
    assert tiles() == [tile, tile // 2]
    pairs_in_32_bits = [arguments[1] for arguments, _ in drawn][-2]
    assert np.asarray(pairs_in_32_bits).tolist() == [1]
    assert engine.ends(batch).score.tolist() == [32767, 32768, 32767]
    assert tiles() == [tile, tile // 2]


@pytest.mark.parametrize(
    ("name", "tile"),
    [
        ("BLOSUM62 32767 0", 8),
        ("BLOSUM62 32768 1", 4),
        ("largest of 16 bits", 8),
        ("lowest beyond 16 bits", 4),
        ("highest beyond 16 bits", 4),
    ],
)
def test_scorings_beyond_16_bits_need_no_repetition(device, tiles, name, tile):
    case = CASES[name].part(slice(12, 15))
    Fragment(case.scoring, device).scores(case.batch)
    assert tiles()[0] == tile


def test_progress_does_not_count_repetitions(device):
    finished = []
    batch = Batch.one_to_many(np.zeros(200, np.uint8), [np.zeros(300, np.uint8)] * 4)
    assert set(Fragment(LIMIT, device).scores(batch, progress=finished.append)) == {204800}
    assert sum(finished) == batch.cells


# bits per pixel


def bits(attachments):
    return sum(32 * texture.components for texture in attachments)


@pytest.fixture(params=["raised", "GL error"])
def draws(request, device, monkeypatch):
    """``draws(most)``: let the device refuse to draw more bits per pixel than that."""

    def draws(most):
        real = device.ctx.framebuffer

        def framebuffer(attachments):
            if bits(attachments) > most:
                if request.param == "raised":
                    raise moderngl.Error("the framebuffer is not complete (UNSUPPORTED)")
                gl_function(device.ctx, "glEnable", ctypes.c_uint)(0xBAD)
            return real(attachments)

        monkeypatch.setattr(device.ctx, "framebuffer", framebuffer)

    return draws


@pytest.mark.parametrize(
    ("most", "affine", "linear"), [(896, 8, 8), (512, 4, 8), (383, 1, 4), (256, 1, 4)]
)
def test_smaller_tiles_where_larger_ones_are_refused(device, draws, tiles, most, affine, linear):
    draws(most)
    for name in (*CORE, *END_FEW, "limit 900 1"):
        case = (CASES | END_CASES)[name]
        engine = Fragment(case.scoring, device)
        judge(engine, case)
        largest = linear if case.scoring.linear else affine
        assert engine.tile.columns == largest
        assert set(tiles()) <= {largest, max(1, largest // 2)}
    device.check("errors were read")


def test_a_device_that_draws_no_tile(device, draws):
    draws(100)
    with pytest.raises(DeviceError, match="allocating buffers"):
        Fragment(BLOSUM62, device).scores(Batch.pairwise([letters(9)], [letters(9)]))


@pytest.mark.parametrize("field", ["name", "vendor"])
def test_no_more_than_512_bits_on_devices_of_apple(device, calls, field):
    apple = cases.standing_in(device, software=device.info.software, **{field: "Apple M1"})
    made = calls(device.ctx, "framebuffer")
    for name, tile in (("BLOSUM62 12 1", 4), ("BLOSUM62 8 8", 8)):
        case = CASES[name]
        engine = Fragment(case.scoring, apple)
        judge(engine, case)
        assert engine.tile.columns == tile
    assert max(bits(arguments[0]) for arguments, _ in made) == 512


@pytest.mark.parametrize(
    ("tile", "affine", "linear"), [(8, 896, 512), (4, 384, 256), (1, 256, 192)]
)
def test_bits_per_pixel(device, calls, tile, affine, linear):
    made = calls(device.ctx, "framebuffer")
    for scoring, expected in ((BLOSUM62, affine), (CASES["BLOSUM62 8 8"].scoring, linear)):
        for method, most in ((Fragment.scores, expected - 96), (Fragment.ends, expected)):
            engine = Fragment(scoring, device, tile=tile)
            assert engine.tile.columns == tile
            made.clear()
            method(engine, Batch.pairwise([letters(9)], [letters(9)]))
            assert max(bits(arguments[0]) for arguments, _ in made) == most


# passes


def test_a_pass_draws_the_live_cells_of_a_diagonal_once(device, calls):
    # Liu et al. 2006: M + K - 1 passes, N x L(k) cells each.
    passes = calls(glsw.engines.fragment._Buffers, "use")
    batch = Batch.pairwise([letters(37)] * 6, [letters(61, seed) for seed in range(6)])
    for tile, rows, columns in ((8, 3, 8), (4, 10, 16), (1, 37, 61)):
        Fragment(BLOSUM62, device, tile=tile).scores(batch)
        quads = [arguments[2] for arguments, _ in passes]
        assert len(quads) == rows + columns - 1
        assert [width for _, _, width, _ in quads] == [
            min(k + 1, rows, columns, rows + columns - 1 - k) for k in range(len(quads))
        ]
        assert all(first + width <= rows for first, _, width, _ in quads)
        assert {(bottom, height) for _, bottom, _, height in quads} == {(0, 6)}
        passes.clear()


def test_passes_are_queued_for_a_moment_only(device, monkeypatch):
    # Every pass takes 30 ms by this clock: once that is known, no more than 100 ms may wait.
    clock = types.SimpleNamespace(now=0.0)
    queued, slices = [], []
    render, finish = moderngl.VertexArray.render, device.ctx.finish

    def slow_render(self, *arguments, **options):
        queued.append(0.03)
        return render(self, *arguments, **options)

    def slow_finish():
        clock.now += sum(queued)
        slices.append(len(queued))
        queued.clear()
        finish()

    monkeypatch.setattr(moderngl.VertexArray, "render", slow_render)
    monkeypatch.setattr(device.ctx, "finish", slow_finish)
    monkeypatch.setattr(throttle, "time", types.SimpleNamespace(perf_counter=lambda: clock.now))
    batch = Batch.one_to_many(letters(500), [letters(400)])
    finished = []
    scores = Fragment(BLOSUM62, device).scores(batch, progress=finished.append)
    passes = 32 + 50 - 1
    assert sum(slices) + len(queued) >= passes
    assert max(slices[1:]) <= 4
    assert len(finished) >= passes // 4
    monkeypatch.undo()
    assert scores.tolist() == Fragment(BLOSUM62, device, tile=4).scores(batch).tolist()


# textures


def test_buffers_are_kept_and_grow(device, calls):
    made = calls(device.ctx, "framebuffer")

    def buffers(queries, targets):
        made.clear()
        batch = Batch.pairwise(queries, targets)
        judge(engine, cases.Case("buffers", BLOSUM62, batch))
        sizes = [arguments[0][0].size for arguments, _ in made if len(arguments[0]) > 1]
        return len(sizes)

    engine = Fragment(BLOSUM62, device)
    assert engine.tile.columns == 8  # known once small buffers were made
    first = [letters(60, seed) for seed in range(5)]
    scores_then_ends = 2 * 3
    assert buffers(first, first) == scores_then_ends
    engine.ends(Batch.pairwise(first, first))
    made.clear()
    engine.ends(Batch.pairwise(first, first[::-1]))
    engine.ends(Batch.pairwise(first[:3], [each[:20] for each in first[:3]]))
    engine.ends(Batch.pairwise([each[:9] for each in first], first))
    assert all(len(arguments[0]) == 1 for arguments, _ in made)
    larger = [letters(90, seed) for seed in range(5)]
    assert buffers(larger, larger) == scores_then_ends
    assert buffers(first * 3, first * 3) == scores_then_ends


def test_textures_are_released(device, calls):
    real, made = device.ctx.texture, []

    def texture(*arguments, **options):
        made.append(real(*arguments, **options))
        return made[-1]

    engine = Fragment(LIMIT, device)
    device.ctx.texture = texture
    try:
        for length in (20, 60, 33, 90, 40, 61, 7, 200, 8):
            targets = [letters(50, of=3)] * 4
            batch = Batch.pairwise([letters(length, s, 3) for s in range(4)], targets)
            engine.ends(batch)
            engine.scores(batch)
    finally:
        del device.ctx.texture
    alive = [each for each in made if not isinstance(each.mglo, moderngl.InvalidObject)]
    inputs, buffers = 5, 3 * 7
    assert len(made) > 3 * (inputs + buffers)
    assert len(alive) <= inputs + buffers


def test_a_query_profile_that_is_not_drawn_is_not_used(device, monkeypatch):
    engine = Fragment(BLOSUM62, device)
    first, other = (Batch.pairwise([letters(40, seed)], [letters(50, 3)]) for seed in (1, 2))
    expected = engine.scores(first).tolist()

    def check(what):
        if what == "drawing the query profile":
            raise DeviceError(what)

    with monkeypatch.context() as patch:
        patch.setattr(device, "check", check)
        with pytest.raises(DeviceError, match=r"^drawing the query profile$"):
            engine.scores(other)
    assert engine.scores(first).tolist() == expected


def test_another_device_may_be_current(device):
    case = CASES["BLOSUM62 12 1"].part(slice(80, 140))
    engine = Fragment(case.scoring, device)
    judge(engine, case)
    route = next(route for route in routes() if route.index == device.info.index)
    other = Device(route.index, *route.open())
    try:
        for _ in range(2):
            other.activate()
            judge(engine, case)
            device.activate()
            judge(Fragment(case.scoring, other), case)
    finally:
        other.close()
        device.activate()
    judge(engine, case)


def test_tile_sizes():
    with pytest.raises(ValueError, match="tile 5: 8, 4 or 1 expected"):
        Fragment(Scoring.named("BLOSUM62"), object(), tile=5)
