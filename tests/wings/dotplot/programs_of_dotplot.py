"""The sets of defines that programs of dot plots are compiled with."""

from permutations import LANES, LINEAR, SCORES, SEPARATE, permutations

BINDINGS: dict[str, int] = {}
PERMUTATIONS = {
    "dotplot/score_map.comp": permutations(
        LINEAR,
        SEPARATE,
        SCORES[1:4],
        ({}, {"JOIN": 1}),
        ({}, {"NARROW": 1}),
        **LANES,
        COLUMNS=128,
    ),
}
BUDGETS = {"dotplot/score_map.comp": (11, 11, 48)}
