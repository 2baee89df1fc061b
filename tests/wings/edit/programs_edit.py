"""The sets of defines that the program of edit distances is compiled with."""

from permutations import permutations

from glsw.engines.gl import binding_macros
from glsw.wings.edit.bit_parallel import BINDINGS as NUMBERED

BINDINGS = binding_macros(NUMBERED)
PERMUTATIONS = {
    "edit/bit_parallel.comp": permutations(
        ({}, {"INFIX": 1}),
        [{"WORDS": 1}, {"WORDS": 16}],
        [{"PLANES": 1}, {"PLANES": 5}],
        WORKGROUP=64,
    ),
}
BUDGETS = {"edit/bit_parallel.comp": (0, 1, 8)}
