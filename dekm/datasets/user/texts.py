"""A user's texts: the files of a folder, or a column of a table."""

from pathlib import Path

from dekm.datasets.dataset import Loaded
from dekm.datasets.tfidf import Scaling, Texts
from dekm.datasets.user.folders import TEXT_SUFFIXES, list_files, log_ignored
from dekm.datasets.user.formats import opened_text
from dekm.datasets.user.openml_tables import open_data
from dekm.datasets.user.tables import check_column, default_labels, labels_of
from dekm.datasets.user.text_tables import Form


def from_folder(
    raw_dir: Path,
    *,
    path: str,
    stem: bool = False,
    scaling: Scaling = "unit",
    stop_words: str | None = None,
) -> Loaded:
    """Load the ``.txt`` files of a folder in UTF-8, sorted by path, with the files as names.

    `stem`, `scaling` and `stop_words` are those of `Texts`. `InputError` if a file is in another encoding, or
    the folder has no such files or has them at different depths.
    """
    files, y = list_files(Path(path), TEXT_SUFFIXES)
    log_ignored(Path(path), TEXT_SUFFIXES)
    documents = []
    for file in files:
        with opened_text(file, "text in UTF-8") as stream:
            documents.append(stream.read())
    return Loaded(Texts(documents, stem, scaling, stop_words), y, [str(file) for file in files])


def from_column(
    raw_dir: Path,
    *,
    path: str,
    text_column: str,
    label_column: str | None = None,
    labels: str | None = None,
    name_column: str | None = None,
    separator: str | None = None,
    header: bool | None = None,
    stem: bool = False,
    scaling: Scaling = "unit",
    stop_words: str | None = None,
) -> Loaded:
    """Load the texts in a column of a table; an empty cell is an empty text.

    `stem`, `scaling` and `stop_words` are those of `Texts`, the other options those of `tables.table`.
    `InputError` if the file is damaged or lacks a column.
    """
    table = open_data(raw_dir, path, Form(separator, header=header))
    label_column = label_column or default_labels(table, labels)
    roles = {"text_column": text_column, "label_column": label_column, "name_column": name_column}
    for setting, column in roles.items():
        check_column(table, setting, column)
    read = table.read([], {column for column in roles.values() if column is not None})
    documents = read.texts(text_column)
    y = labels_of(path, read.cells, label_column, labels, len(documents))
    names = read.texts(name_column) if name_column else None
    return Loaded(Texts(documents, stem, scaling, stop_words), y, names)
