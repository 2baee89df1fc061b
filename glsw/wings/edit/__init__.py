"""Edit distances of sequences in any letters."""

ENGINES = {
    "bit_parallel": (
        "glsw.wings.edit.bit_parallel.BitParallel",
        "glsw.wings.edit.unit_costs.has_unit_costs",
    ),
}
