"""Whether a device can be trusted: programs must pass a self-test before they are used.

Compilers and drivers have faults, and a fault may only show in some programs. `provable` is the
protocol of all that computes on a device, `proofs` tries and remembers, in a file of `verdicts`,
and `check` is what `glsw devices --test` does.
"""
