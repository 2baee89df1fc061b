"""The sets of defines that programs of the window are compiled with: none."""

BINDINGS: dict[str, int] = {}
PERMUTATIONS: dict[str, list[dict[str, int]]] = {"view/map.frag": [{}], "view/overlay.frag": [{}]}
BUDGETS = {"view/map.frag": (0, 0, 1), "view/overlay.frag": (0, 0, 1)}
