"""The sets of defines that programs of profiles are compiled with."""

from permutations import LANES, permutations

BINDINGS: dict[str, int] = {}
PERMUTATIONS = {
    "profiles/forward.comp": permutations(
        ({"CHAIN": 1}, {"CHAIN": 16}), **LANES | {"ROWS": 16, "STEP": 4}
    ),
}
BUDGETS = {"profiles/forward.comp": (0, 1, 2)}
