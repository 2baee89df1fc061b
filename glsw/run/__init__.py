"""Where the work runs: in this process, in a process per device, on an executor."""
