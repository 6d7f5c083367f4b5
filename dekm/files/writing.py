"""Writers of whole files: text in UTF-8, JSON and CSV."""

import csv
import io
import json
import math
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dekm.files.atomic import atomic_file


def write_text(target: Path, text: str) -> None:
    """Write a text file in UTF-8 atomically; a file name in it may be in another encoding."""
    write_bytes(target, text.encode(errors="backslashreplace"))


def write_bytes(target: Path, content: bytes) -> None:
    """Write a file atomically."""
    with atomic_file(target) as temporary:
        temporary.write_bytes(content)


def copy_file(file: Path, target: Path) -> None:
    """Copy a file atomically, and make the folder that it goes to."""
    with atomic_file(target) as temporary:
        shutil.copyfile(file, temporary)


def write_json(target: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON file atomically."""
    write_text(target, json.dumps(value, indent=1) + "\n")


def write_csv(target: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """Write rows that all have the same columns; no rows give an empty file."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=list(rows[0]) if rows else [])
    writer.writeheader()
    writer.writerows(csv_fields(row) for row in rows)
    write_text(target, text.getvalue())


def csv_fields(row: Mapping[str, float]) -> dict[str, float | str]:
    """A row as a CSV file holds it: NaN is an empty field."""
    return {name: "" if math.isnan(value) else value for name, value in row.items()}
