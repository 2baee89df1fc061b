"""A command as a dataclass: its options, groups of options, and what wings add.

The fields of a `Command` are options, groups of them, and fields that are neither. An option is
declared once, by `option`. `add_options` turns fields into options of argparse, and `made` fills
them with what argparse found. A group with a field ``wings`` takes those that wings list in
``OPTIONS``, see `glsw.wings`.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import partial
from inspect import get_annotations
from types import MappingProxyType, NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, get_args, get_origin

from glsw.cli.words import name, number_in
from glsw.wings import registered
from glsw.words import Range

if TYPE_CHECKING:
    from glsw.output.result_file import ResultFile

GroupT = TypeVar("GroupT", bound="Group")
_NUMBERS = {int: Range(0, whole=True), float: Range()}
"""What options of these types can be, if they do not say it."""
_OURS = {"flag", "within", "decides", "one_track", "tasks", "avoids"}
"""What is known of options that argparse does not know."""


def option(text: str, default: Any = MISSING, /, **how: Any) -> Any:
    """Return a field that is an option; its type says which words it takes.

    Parameters
    ----------
    text : str
        Its help, after the name of its word and a colon unless that is of a `bool` or one of
        several choices. ``{}`` is the place of a note, see `Group`.
    default : object, optional
        By default that of the library, see `Group`, or None.
    **how
        * ``flag`` if it is not the name of the field, "" for an argument without one;
        * ``within``: the `Range` of its numbers, by default 0 or more if they are whole;
        * ``decides``: whether it decides what is written, if not as its group says;
        * ``one_track`` if it excludes sequences of two tracks;
        * ``tasks``: other defaults, by task;
        * ``avoids``: an error that it avoids, and what is said of it then;
        * others as of `argparse.ArgumentParser.add_argument`.

    Examples
    --------
    >>> class List(Command):
    ...     top: int = option("N: list the N best", 10)
    ...     order: Literal["score", "name"] = option("what sorts them", "score")
    ...     both: bool = option("list both")
    >>> parser = argparse.ArgumentParser("glsw list")
    >>> add_options(parser, List)
    >>> found = made(List, vars(parser.parse_args(["--top", "3", "--both"])), "list")
    >>> found.top, found.order, found.both
    (3, 'score', True)
    """
    return field(default=default, metadata={"help": text, **how})


def argument(text: str, default: Any = MISSING, /, **how: Any) -> Any:
    """Return a field that is an argument without a flag."""
    return option(text, default, **{"flag": "", "type": str, **how})


def group(kind: type[GroupT]) -> GroupT:
    """Return a field that is a group of options."""
    return field(default_factory=kind)


def of_wings() -> list[Group]:
    """Return the field for groups that wings add."""
    return field(default_factory=list)


@dataclass
class Group:
    """Options under a title; each subclass is a dataclass, unless it is ``abstract``.

    Attributes
    ----------
    title, about : str
        Of a group of a wing the title may be "": it then stands in the group that it is added to.
    examples : sequence of str
        Command lines that the help ends with.
    notes : mapping
        What is added to the help of options of the command, by their names.
    decides : bool
        Whether its options decide what is written, for ``--resume``.

    A subclass may name the ``defaults`` and the ``ranges`` of the library, by parameter; an option
    of that name has them unless it declares others. 0 stands for None.
    """

    title: ClassVar[str] = ""
    about: ClassVar[str | None] = None
    examples: ClassVar[Sequence[str]] = ()
    notes: ClassVar[Mapping[str, str]] = {}
    decides: ClassVar[bool] = False

    def __init_subclass__(
        cls,
        *,
        title: str = "",
        notes: Mapping[str, str] | None = None,
        decides: bool = False,
        abstract: bool = False,
        defaults: Mapping[str, Any] = {},
        ranges: Mapping[str, Range] = {},
    ) -> None:
        cls.title, cls.decides = title or cls.title, decides or cls.decides
        cls.notes = {**cls.notes, **(notes or {})}
        for key, each in vars(cls).items():
            if isinstance(each, Field) and each.default is each.default_factory is MISSING:
                each.default = defaults.get(key)
            if isinstance(each, Field) and (within := ranges.get(key)):
                within = within._replace(least=0) if within.also else within  # 0 for all
                each.metadata = MappingProxyType(
                    {"within": within._replace(also=""), **each.metadata}
                )
        if not abstract:
            dataclass(kw_only=True, eq=False)(cls)

    def apply(self, command: Any) -> None:
        """Raise the errors of these options, and let them change the command they belong to."""

    def parts(self) -> Iterator[Group]:
        """Yield this group and all groups in it, those of wings too."""
        yield self
        for each in fields(self):
            value = getattr(self, each.name)
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, Group):
                    yield from part.parts()


class Command(Group):
    """A command with the options of a command line.

    Attributes
    ----------
    words : list of str
        The command line after the name of the program.
    began : float
        When it was read, as `time.time` says.
    threads : int, optional
        How many threads of the CPU it may use.
    file : ResultFile, optional
        Where its results go, once that is known.
    advice : tuple of str
        What asks for proteins and for DNA.
    instead : callable, optional
        What a wing does in the place of `run`.
    """

    words: Sequence[str] = ()
    began: float = 0.0
    threads: int | None = None
    file: ResultFile | None = None
    advice: tuple[str, str] = ("--alphabet protein", "--alphabet dna")
    instead: Callable[[], None] | None = None

    def run(self) -> None:
        """Carry out the command."""
        raise NotImplementedError

    def options(self) -> Iterator[tuple[Group, Field[Any]]]:
        """Yield the group and the field of each option."""
        for part in self.parts():
            yield from ((part, each) for each in fields(part) if "help" in each.metadata)

    def named(self, names: Container[str]) -> dict[str, Any]:
        """Return the options that have one of these names."""
        found = ((each.name, getattr(part, each.name)) for part, each in self.options())
        return {name: value for name, value in found if name in names}

    def deciding(self) -> dict[str, object]:
        """Return the options that determine the output, by their flags."""
        found = {
            flag_of(each): getattr(part, each.name)
            for part, each in self.options()
            if each.metadata.get("decides", part.decides)
        }
        return {flag: "not given" if value is None else value for flag, value in found.items()}


def flag_of(each: Field[Any]) -> str:
    """Return the flag of an option, "" of an argument without one."""
    flag: str = each.metadata.get("flag", f"--{each.name.replace('_', '-')}")
    return flag


def add_options(parser: argparse.ArgumentParser, kind: type[Command], task: str = "") -> None:
    """Add the options of a command to its parser, with the defaults that they have in a task."""
    command = parser.prog.split()[-1]
    notes: dict[str, str] = {}
    for each in _kinds(kind, command):
        notes = {**each.notes, **notes}  # those of the command come first

    def add(kind: type[Group], place: argparse._ActionsContainer) -> None:
        for each in fields(kind):
            if "help" in each.metadata:
                how = {key: each.metadata[key] for key in {*each.metadata} - _OURS}
                how["default"] = each.metadata.get("tasks", {}).get(task, each.default)
                how = _how(_type_of(each, kind), how, each.metadata.get("within"))
                how["help"] = how["help"].replace("{}", notes.get(each.name, ""))
                if flag := flag_of(each):
                    how["dest"] = each.name
                place.add_argument(flag or each.name, **how)
            for inner in _inner(each, kind, command):
                own = parser.add_argument_group(inner.title, inner.about) if inner.title else place
                add(inner, own)

    add(kind, parser)
    if kind.examples:
        lines = "".join(f"\n  {line}" for line in kind.examples)
        parser.epilog = f"{parser.epilog or ''}\n\nexamples:{lines}"


def made(kind: type[GroupT], values: Mapping[str, Any], command: str) -> GroupT:
    """Return a group of the command of this name, with the values of options by their names."""
    filled: dict[str, Any] = {}
    for each in fields(kind):
        if "help" in each.metadata:
            filled[each.name] = values[each.name]
        elif inner := [made(group, values, command) for group in _inner(each, kind, command)]:
            filled[each.name] = inner if each.name == "wings" else inner[0]
    return kind(**filled)


def _type_of(each: Field[Any], kind: type[Group]) -> Any:
    """Return the type of a field; a text means what it does where the field is declared."""
    if not isinstance(each.type, str):
        return each.type
    home = next(base for base in kind.__mro__ if each.name in get_annotations(base))
    return eval(each.type, vars(sys.modules[home.__module__]))


def _how(hint: Any, how: dict[str, Any], within: Range | None) -> dict[str, Any]:
    """Return what argparse has to know of an option of this type."""
    if NoneType in get_args(hint):
        hint = get_args(hint)[0]
    if hint is bool:
        return {**how, "action": "store_true", "default": False}
    choices = get_args(hint) if get_origin(hint) is Literal else how.get("choices")
    if choices:
        known = {str(each): each for each in choices}
        return {"choices": choices, "type": lambda word: known.get(word, word), **how}
    metavar, _, text = how["help"].partition(": ")
    within = within or _NUMBERS.get(hint)
    kind = partial(number_in, within=within) if within else {str: name}.get(hint)
    return {"type": kind, **how, "metavar": metavar, "help": text}


def _kinds(kind: type[Group], command: str) -> Iterator[type[Group]]:
    """Yield a group and all groups in it."""
    yield kind
    for each in fields(kind):
        for inner in _inner(each, kind, command):
            yield from _kinds(inner, command)


def _inner(each: Field[Any], kind: type[Group], command: str) -> list[type[Group]]:
    """Return the groups of a field: itself, or those of wings, in a group of a command."""
    if each.name == "wings":
        places: dict[str, tuple[str, ...]] = registered("OPTIONS")
        here = [name for name, each in places.items() if f"{command} {kind.title}" in each]
        return [importlib.import_module(name).Options for name in here]
    found: Any = each.default_factory
    return [found] if isinstance(found, type) and issubclass(found, Group) else []
