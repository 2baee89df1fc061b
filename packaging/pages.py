"""Manual pages and shell completions, made from the parsers of the command line.

python packaging/pages.py          # writes packaging/man and packaging/completions
python packaging/pages.py --check  # exit status 1 if they are others

Needs `glsw[packaging]`. The wheel has the files, so that an installation puts them where `man` and
the shells look, below its `share`.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import shtab
from argparse_manpage.manpage import Manpage, _markup

from glsw import __version__
from glsw.cli import with_all_options
from glsw.engines import ENGINES

HERE = Path(__file__).resolve().parent
COMPLETIONS = {"bash": "bash/glsw", "zsh": "zsh/_glsw", "fish": "fish/glsw.fish"}

_DATE = "2026-11-22"  # of the version
_FILES = re.compile(r"QUERY|TARGET|DB|FASTA2?|RECORDING|[A-Z]*FILE\b.*")
_CHOICES = {"engine": ENGINES}


# Where a line of text begins as those of troff that are no text.
_TEXT_LIKE_A_MACRO = re.compile(r"^('|\.(?!(TH|SH|SS|TP|PP|B|RS|RE|nf|fi)\b))", re.MULTILINE)


class _Formatter(argparse.HelpFormatter):
    """Fills lines of one width, whatever the terminal's is, and breaks no word at a hyphen."""

    def __init__(self, prog: str, **_: object) -> None:
        super().__init__(prog, width=78)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(f"{indent}{line}" for line in self._split_lines(text, width))


def main(argv: list[str] | None = None) -> int:
    """Write the files or, with --check, compare them; return 1 if they differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args(argv).check
    status = 0
    for name, text in made():
        path = HERE / name
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"{path}: not as the parsers are, run make pages", file=sys.stderr)
            status = 1
    return status


def made() -> Iterator[tuple[str, str]]:
    """Yield the names and the texts of all files."""
    for shell, name in COMPLETIONS.items():
        parser, commands = with_all_options()
        for command in commands.values():
            say_what_words_are(command)
        yield f"completions/{name}", shtab.complete(parser, shell)
    parser, commands = with_all_options()
    for command in commands.values():
        yield f"man/{command.prog.replace(' ', '-')}.1", manual(command)
        command._actions.clear()
        command._action_groups.clear()
        command.usage, command.description, command.epilog = argparse.SUPPRESS, None, None
    yield "man/glsw.1", manual(parser)


def say_what_words_are(parser: argparse.ArgumentParser) -> None:
    """Mark the actions whose words are files, folders, or of a list."""
    for action in parser._actions:
        metavar = str(action.metavar or "")
        if _FILES.fullmatch(metavar):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif metavar == "DIR":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif action.choices is None:
            formats = getattr(action.type, "keywords", {}).get("formats", ())
            action.choices = [*formats, *_CHOICES.get(action.dest, ())] or None


def manual(parser: argparse.ArgumentParser) -> str:
    """Return a manual page."""
    name = parser.prog.replace(" ", "-")
    parser.formatter_class = _Formatter
    parser.man_short_description = (parser.description or "").rstrip(".")  # type: ignore[attr-defined]
    parts = [part.split(":\n") for part in (parser.epilog or "").split("\n\n")]
    parser.epilog = None
    data = {"project_name": "glsw", "prog": name, "version": __version__}
    page = Manpage(parser, format="single-commands-section", _data=data)
    for heading, lines in parts:
        page.add_section(heading, "=", f".nf\n{_markup(textwrap.dedent(lines))}\n.fi")
    text = str(page)
    heading = f'.TH {name.upper()} "1" "{_DATE}" "glsw {__version__}" "glsw Manual"'
    text = re.sub(r"^\.TH .*$", heading, text, count=1, flags=re.MULTILINE)
    for theirs, ours in (
        (f"\n{parser.prog} \\-", f"\n{name} \\-"),
        ("\n.SH POSITIONAL ARGUMENTS\n", "\n.SH COMMANDS\n"),
    ):
        text = text.replace(theirs, ours, 1)
    return _TEXT_LIKE_A_MACRO.sub(lambda found: rf"\&{found[0]}", text)


if __name__ == "__main__":
    raise SystemExit(main())
