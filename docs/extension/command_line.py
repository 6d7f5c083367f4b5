"""The page of the command line, from the parser."""

import argparse
from collections.abc import Iterator

from dekm.cli.parser import make_parser
from dekm.errors import InputError
from docs.extension.text import code, table


def commands() -> dict[str, argparse.ArgumentParser]:
    """The parser of every command by its name."""
    root = make_parser("python -m dekm")
    (choices,) = (
        action.choices for action in root._actions if isinstance(action, argparse._SubParsersAction)
    )
    return dict(choices)


def undescribed() -> list[str]:
    """The arguments that have no description."""
    return [
        f"dekm {name} {'/'.join(action.option_strings) or action.dest} has no description"
        for name, command in commands().items()
        for action in _arguments(command)
        if not action.help
    ]


def page() -> str:
    """A section for each command, with a table of its arguments.

    Raises
    ------
    InputError
        If an argument has no description.
    """
    if problems := undescribed():
        raise InputError("; ".join(problems))
    return "\n".join(_section(name, command) for name, command in sorted(commands().items()))


def _section(name: str, command: argparse.ArgumentParser) -> str:
    rows = [[_names(action), _meaning(action), _values(action)] for action in _arguments(command)]
    usage = command.format_usage().removeprefix("usage: ").strip()
    return f"## `{name}`\n\n{command.description}\n\n```text\n{usage}\n```\n\n" + table(
        ["argument", "meaning", "values"], rows
    )


def _arguments(command: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    return (action for action in command._actions if not isinstance(action, argparse._HelpAction))


def _names(action: argparse.Action) -> str:
    names = ", ".join(code(option) for option in action.option_strings)
    return names or code(action.metavar or action.dest.upper())


def _meaning(action: argparse.Action) -> str:
    needed = " Required." if action.option_strings and action.required else ""
    text = str(action.help)
    return text[0].upper() + text[1:] + "." + needed


def _values(action: argparse.Action) -> str:
    if action.nargs == 0:
        return "a flag"
    if action.choices:
        return ", ".join(code(choice) for choice in action.choices)
    kind = {"int": "integer", "float": "number", "Path": "path"}.get(
        getattr(action.type, "__name__", ""), "text"
    )
    many = {"+": "one or more of: ", "*": "any number of: "}.get(str(action.nargs), "")
    repeated = ", may be repeated" if isinstance(action, argparse._AppendAction) else ""
    return f"{many}{kind}{repeated}"
