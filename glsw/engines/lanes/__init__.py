"""Engine ``lanes``: many targets at once, in registers."""
