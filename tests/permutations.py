"""Sets of defines that programs are compiled with.

Those of a wing's programs, and what these may measure, are in ``programs*.py`` beside its tests: a
table ``PERMUTATIONS``, the ``BINDINGS`` of their buffers, and ``BUDGETS``.
"""

from itertools import product

from bench.row import SHADERS as MICRO_SHADERS
from glsw.device.shader import assemble

LINEAR = ({}, {"LINEAR": 1})
SEPARATE = ({}, {"SEPARATE": 1})
LANES = {"LETTERS": 24, "ROWS": 8, "STEP": 2, "WORKGROUP": 32}
TWO_TRACKS = {"TWO_TRACKS": 21}
GAPS = {"POSITIONAL_GAPS": 1}
# Two numbers, a uniform block, shared memory, a texture, a texture by position, of two tracks, with
# gap costs.
SCORES = (
    {"SCORES": 0, "AMBIGUOUS": 20},
    *({"SCORES": place} for place in (1, 2, 3, 4)),
    {"SCORES": 4, **TWO_TRACKS},
    {"SCORES": 4, **GAPS},
)


def permutations(*choices, **defines):
    """Return each choice of one set of defines from each of the choices.

    Gap costs by position are affine, and the same for insertions and deletions.
    """
    every = [
        {key: value for part in (defines, *chosen) for key, value in part.items()}
        for chosen in product(*choices)
    ]
    return [made for made in every if not ({*GAPS} & {*made} and {"LINEAR", "SEPARATE"} & {*made})]


def known_to(name, every):
    """Return sets of defines with those that a program knows, each set once."""
    keys = dict.fromkeys({key for defines in every for key in defines}, 1)
    _, origins = assemble(name, keys, MICRO_SHADERS)  # which leaves out what is not mentioned
    names = {key for key in keys if f"{name} (#define {key} 1)" in origins}
    some = [{key: value for key, value in each.items() if key in names} for each in every]
    return list({tuple(each.items()): each for each in some}.values())


def switched(defines):
    """Return what distinguishes a permutation: which macros are defined, and some values."""
    return frozenset(
        (key, value if key in ("SCORES", "NUMBER", "QUERY_PROFILE", "TILE", "BITS") else None)
        for key, value in defines.items()
        if value is not None and not key.endswith("_BINDING")
    )


def listed(programs, known):
    """Check that each program, a name and defines, is one of the known permutations."""
    assert programs
    for name in dict(programs):
        every = {*map(switched, known_to(name, known[name]))}
        for defines in known_to(name, [defines for other, defines in programs if other == name]):
            assert switched(defines) in every, (name, defines)
