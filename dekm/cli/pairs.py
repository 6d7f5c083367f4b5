"""Settings on the command line: files of them, and options of the form NAME=VALUE."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from dekm.errors import InputError, shown, unknown_name
from dekm.files.reading import check_fields, read_json

# What a file may have besides the settings: values of other options of its command.
OPTIONS = {
    "licence_held": bool,
    "subsample": int,
    "n_classes": int,
    "definition": dict,
    "pretrained": str,
    "network": str,
}


def resolve_settings(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a command in which the file of ``--settings``, ``--set`` and ``--define`` are read.

    The file has an object `settings`, which ``--set`` changes, and perhaps values of further options, which
    count where the command line has none. `InputError` names what cannot be read and unknown options.
    """
    read = {name: value for name, value in arguments.items() if name != "settings_file"}
    if "settings" not in read:
        return read
    file = arguments["settings_file"]
    given = read_json(file, {"settings": dict}) if file else {"settings": {}}
    read["settings"] = given.pop("settings") | parse_settings(read["settings"])
    if "definition" in read:
        read["definition"] = parse_settings(read["definition"], "--define")
    options = [name for name in OPTIONS if name in read]
    for name in (name for name, value in given.items() if value is not None):
        if name not in options:
            raise InputError(f"{file}: {unknown_name('', name, ['settings', *options])}")
        check_fields(file, given, {name: OPTIONS[name]})
        read[name] = read[name] or given[name]
    return read


def parse_settings(pairs: list[str], option: str = "--set") -> dict[str, Any]:
    """The values of an option such as ``--set``; one that is not valid JSON is a string."""
    return {name: _parse(value) for name, value in _split(option, "NAME=VALUE", pairs)}


def parse_texts(option: str, form: str, pairs: list[str]) -> dict[str, str]:
    """The texts of an option such as ``--left-out``, whose values have a form such as ``DATASET=REASON``."""
    return dict(_split(option, form, pairs))


def parse_numbers(text: str) -> list[int]:
    """Numbers of clusters, such as "2-15" or "5,10,15", ascending; `InputError` if one is below 2."""
    numbers: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch("([0-9]{1,5})(?:-([0-9]{1,5}))?", part)
        low, high = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 2 <= low <= high:
            raise InputError(
                f"--k {shown(text)} should be numbers of clusters >= 2, such as 2-15 or 5,10,15."
            )
        numbers.update(range(low, high + 1))
    return sorted(numbers)


def _parse(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):  # no JSON, an integer of too many digits, or a value too deep
        return value


def _split(option: str, form: str, pairs: list[str]) -> Iterator[tuple[str, str]]:
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (name and equals):
            raise InputError(f"{option} {shown(pair)} should be {form}.")
        yield name, value
