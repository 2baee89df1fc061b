"""``python -m glsw``: the command line."""

from glsw.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
