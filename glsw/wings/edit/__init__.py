"""Edit distances of sequences over any alphabet."""

ENGINES = {
    "bit_parallel": (
        "glsw.wings.edit.bit_parallel.BitParallel",
        "glsw.wings.edit.unit_costs.has_unit_costs",
    ),
}
