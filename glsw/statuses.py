"""The exit statuses of the program, which the help of each command lists."""

SUCCESS, ERROR, BROKEN_PIPE = 0, 2, 141
SIGNALLED = HUNG_UP, INTERRUPTED, TERMINATED = 129, 130, 143
"""After a signal: 128 and its number, as in a shell, also on Windows."""

MEANINGS = {
    SUCCESS: "on success, with or without hits",
    ERROR: "after an error, with one line on stderr",
    HUNG_UP: "after SIGHUP; FILE.part contains the results so far",
    INTERRUPTED: "after SIGINT (Ctrl-C), likewise",
    BROKEN_PIPE: "if the reader of the output is gone",
    TERMINATED: "after SIGTERM, likewise",
}
