"""The examples of a page, carried out in its order, in one folder and with one set of names.

Of ``sh`` and ``console`` blocks the commands that begin with ``glsw`` are run, and files are
written where they say ``cat > FILE <<'END'``. What a ``console`` block shows has to be what is
printed; a line ``...`` stands for any lines. In ``python`` blocks a value after ``# ->`` has to be
that of the line, and what follows ``>>>`` is as for doctest. A comment ``<!-- not run: REASON -->``
before a block says why it is left out.
"""

from __future__ import annotations

import ast
import doctest
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

_BLOCK = re.compile(
    r"^(?:<!-- (not run: .+?) -->\n)?```([a-z]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
_FILE = re.compile(r"cat > (\S+) <<'END'")
_CHECKED = "python", "sh", "console"


class Block(NamedTuple):
    """A block of a page.

    Parameters
    ----------
    language, code : str
    reason : str
        Why it is not run, if it is not.
    line : int
    """

    language: str
    code: str
    reason: str
    line: int


def blocks(path: Path) -> list[Block]:
    """Return the blocks of a page that are in a language of examples."""
    text = path.read_text(encoding="utf-8")
    return [
        Block(found[2], found[3], found[1] or "", text.count("\n", 0, found.start()) + 1)
        for found in _BLOCK.finditer(text)
        if found[2] in _CHECKED
    ]


def commands(block: Block) -> Iterator[tuple[list[str], str]]:
    """Yield the commands of a block, and what it shows of their output; write its files."""
    lines = iter(block.code.splitlines())
    words: list[str] = []
    shown: list[str] = []
    for line in lines:
        prompt = block.language == "sh" or line.startswith("$ ")
        if not prompt:
            shown.append(line)
            continue
        if words:
            yield words, "\n".join(shown)
        words, shown = [], []
        line = line.removeprefix("$ ")
        while line.endswith("\\"):
            line = line[:-1] + next(lines).lstrip("> ")
        if file := _FILE.match(line):
            content = [each + "\n" for each in iter(lambda: next(lines), "END")]
            Path(file[1]).write_text("".join(content), encoding="utf-8")
        elif line.startswith("glsw "):
            words = shlex.split(line, comments=True)[1:]
    if words:
        yield words, "\n".join(shown)


def matches(shown: str, printed: str) -> bool:
    """Return whether an output is that shown, in which a line ``...`` stands for any lines."""
    lines = [re.escape(line.rstrip()) for line in shown.strip().splitlines()]
    pattern = "\n".join(".*?" if line == re.escape("...") else line for line in lines)
    output = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    return bool(re.fullmatch(pattern, output, re.DOTALL))


def run_python(block: Block, names: dict[str, Any]) -> None:
    """Run a block, and compare the values that it names."""
    if ">>> " in block.code:
        test = doctest.DocTestParser().get_doctest(block.code, names, "page", None, block.line)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
        messages: list[str] = []
        runner.run(test, out=messages.append, clear_globs=False)
        assert not runner.failures, "".join(messages)
        names.update(test.globs)
        return
    names["_checked"] = _checked
    tree = _Checks(block).visit(ast.parse(block.code))
    exec(compile(ast.fix_missing_locations(tree), f"line {block.line}", "exec"), names)


class _Checks(ast.NodeTransformer):
    """Replaces expressions that have a value after ``# ->`` by comparisons with it."""

    def __init__(self, block: Block) -> None:
        self._block = block

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        line = self._block.code.splitlines()[(node.end_lineno or 1) - 1]
        comment = line.encode()[node.end_col_offset or 0 :].decode().partition("#")[2]
        _, said, expected = comment.partition("-> ")
        if said:
            code = ast.get_source_segment(self._block.code, node) or ""
            words = [f"line {self._block.line}: {code}", expected.strip()]
            check = ast.Name("_checked", ast.Load())
            node.value = ast.Call(check, [node.value, *map(ast.Constant, words)], [])
        return node


def _checked(value: object, code: str, expected: str) -> None:
    assert repr(value) == expected, f"{code} is {value!r}"


def run_block(
    block: Block, names: dict[str, Any], run: Callable[[list[str]], tuple[int, str, str]]
) -> None:
    """Carry out a block; ``run(words)`` runs the command line: status, output, messages."""
    if block.language == "python":
        run_python(block, names)
        return
    for words, shown in commands(block):
        status, out, err = run(words)
        assert status == 0, f"line {block.line}: glsw {shlex.join(words)}: {err}"
        if block.language == "console":
            assert matches(shown, out), f"line {block.line}: glsw {shlex.join(words)}:\n{out}"
