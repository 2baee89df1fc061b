"""The shaders before the compilers of devices that are not here: `python -m tools.vendors`.

`run.sh` runs a command before the driver of one of `devices.txt`. There `child` compiles what
`calls` need, and samples of all permutations; `measure` starts it per device and keeps `rows`, of
which `table` makes that of docs/DEVICES.md.
"""
