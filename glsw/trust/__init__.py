"""Whether a device can be trusted: what computes on it proves its programs before it uses them.

Compilers and drivers have faults, and a fault may only show in some programs. `provable` is the
protocol of all that computes on a device, `proofs` tries and remembers, in a file of `verdicts`,
and `check` is what `glsw devices --test` does.
"""
