"""The sets of defines that programs of three sequences are compiled with."""

from permutations import LINEAR, SCORES, permutations

from glsw.engines.gl import binding_macros
from glsw.wings.three.engines import Subtable

BINDINGS = binding_macros(Subtable.bindings)
LINEAR_PACKED = [{}, {"PACKED": 1}, {"PACKED": 2}, {"LINEAR": 1}, {"LINEAR": 1, "PACKED": 1}]
TABLE = ({}, {"TABLE": 1})
WHOLE = ({}, {"WHOLE": 3})
IDENTITY = ({}, {"IDENTITY": 1})
COLUMN_SCORES = (IDENTITY[1], *SCORES[1:4])
SHAPE3 = {"LETTERS": 25, "SIDE": 4, "DEEP": 2, "LANES_J": 8, "LANES_K": 8}
KEPT3 = [  # of each cell; AGAIN from a plane that was kept
    {"TABLE": 0, "DIRECTIONS": 0, "MASKED": 0, "AGAIN": 0} | kept
    for kept in (
        {},
        {"TABLE": 1},
        {"MASKED": 1},
        {"DIRECTIONS": 1},
        {"DIRECTIONS": 1, "AGAIN": 1},
        {"DIRECTIONS": 1, "MASKED": 1},
        {"DIRECTIONS": 1, "MASKED": 1, "AGAIN": 1},
    )
]
HELPERS3 = {"HELPERS": 32, "BATCH": 4, "AHEAD": 2, "HELD": 25, "LETTERS_AT_ONCE": 64, "EMPTY": -1}
PERMUTATIONS = {
    "three/plane.comp": permutations(
        LINEAR, WHOLE, COLUMN_SCORES, TABLE, LETTERS=25, LANES=8, WORKGROUP=64
    ),
    "three/subtable.comp": permutations(
        LINEAR_PACKED, WHOLE, COLUMN_SCORES, KEPT3, **SHAPE3, WORKGROUP=64, TILE_ROWS=32
    ),
    "three/subtable_waiting.comp": permutations(
        LINEAR_PACKED, WHOLE, COLUMN_SCORES, KEPT3, **SHAPE3 | HELPERS3, WORKGROUP=128
    ),
    "three/empty_sides.comp": [{"EMPTY": -1}, {"EMPTY": 1 - 2**31}],
    "three/traceback3.comp": permutations(
        LINEAR, WHOLE, [{"MASKED": flag} for flag in (0, 1)], **SHAPE3
    ),
}
BUDGETS = {  # half of the permutations from end to end
    "three/empty_sides.comp": (0, 0, 2),
    "three/plane.comp": (3, 7, 32),
    "three/subtable.comp": (6, 7, 280),
    "three/subtable_waiting.comp": (6, 7, 280),
    "three/traceback3.comp": (2, 1, 4),
}
