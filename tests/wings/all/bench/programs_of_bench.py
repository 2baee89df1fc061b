"""The sets of defines that microbenchmarks are compiled with."""

from permutations import LINEAR, permutations

NUMBERS = [{"NUMBER": value} for value in range(3)]
OPERATIONS = [{"OPERATION": number} for number in range(3)]
MICRO = {"ROWS": 16, "STEP": 2, "TURNS": 64, "WORKGROUP": 64}
PERMUTATIONS = {
    "micro/chains.comp": permutations(NUMBERS[:2], OPERATIONS, CHAINS=16, ROUNDS=256, WORKGROUP=64),
    "micro/chains.frag": permutations(OPERATIONS, NUMBER=0, CHAINS=16, ROUNDS=256),
    "micro/cells.comp": permutations(LINEAR, **MICRO),
    "micro/cells.frag": permutations(LINEAR, **MICRO),
    "micro/rows.comp": permutations(LINEAR, NUMBERS, **MICRO),
    "micro/cells3.comp": permutations(LINEAR, **MICRO, SIDE=4, IDENTITY=1),
    "micro/shared.comp": [{"TURNS": 64, "WORKGROUP": 64}],
    "micro/texture.frag": [{"TURNS": 64}],
    "micro/write.comp": [{"WORKGROUP": 64, "EACH": 8}],
    "micro/read.comp": [{"WORKGROUP": 64, "EACH": 8}],
    "micro/copy.comp": [{"WORKGROUP": 64, "EACH": 8}],
    "micro/dispatch.comp": [{}],
    "micro/draw.frag": [{}],
}
BINDINGS: dict[str, int] = {}
BUDGETS: dict[str, tuple[int, int, int]] = {}
