"""Files and folders that appear whole or not at all, and readers that check what they read."""

from dekm.files.arrays import write_array
from dekm.files.atomic import atomic_folder, recover, set_aside
from dekm.files.locks import is_locked, locked
from dekm.files.manifest import digest, files_digest, write_manifest
from dekm.files.reading import read_json
from dekm.files.writing import copy_file, csv_fields, write_csv, write_json, write_text

__all__ = [
    "atomic_folder",
    "copy_file",
    "csv_fields",
    "digest",
    "files_digest",
    "is_locked",
    "locked",
    "read_json",
    "recover",
    "set_aside",
    "write_array",
    "write_csv",
    "write_json",
    "write_manifest",
    "write_text",
]
