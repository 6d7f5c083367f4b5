"""A user's texts: the files of a folder, or a column of a table."""

from pathlib import Path

import numpy as np

from dekm.datasets.labels import label_vector
from dekm.datasets.tfidf import Scaling, Texts
from dekm.datasets.user.folders import TEXT_SUFFIXES, list_files, log_ignored
from dekm.datasets.user.formats import opened_text
from dekm.datasets.user.table_files import read_table
from dekm.datasets.user.tables import column_position, label_of


def from_folder(
    raw_dir: Path, *, path: str, stem: bool = False, scaling: Scaling = "unit"
) -> tuple[Texts, np.ndarray | None, list[str]]:
    """Load the ``.txt`` files of a folder, sorted by path.

    Parameters
    ----------
    raw_dir : Path
        Ignored.
    path : str
        Folder of files in UTF-8, see `list_files`.
    stem : bool, default=False
        Whether to count word stems instead of words, see `tfidf`.
    scaling : {"unit", "paper"}, default="unit"
        Length of the rows, see `scale_rows`.

    Returns
    -------
    X : Texts
        The texts.
    y : ndarray of shape (n,) or None
        Labels; None for unlabelled data.
    names : list of str
        The files.

    Raises
    ------
    InputError
        If a file is not in UTF-8, or the folder has no such files or has them at different depths.
    """
    files, y = list_files(Path(path), TEXT_SUFFIXES)
    log_ignored(Path(path), TEXT_SUFFIXES)
    documents = []
    for file in files:
        with opened_text(file, "text in UTF-8") as stream:
            documents.append(stream.read())
    return Texts(documents, stem, scaling), y, [str(file) for file in files]


def from_column(
    raw_dir: Path,
    *,
    path: str,
    text_column: str,
    label_column: str | None = None,
    stem: bool = False,
    scaling: Scaling = "unit",
) -> tuple[Texts, np.ndarray | None]:
    """Load the texts in a column of a table.

    Parameters
    ----------
    raw_dir : Path
        Ignored.
    path : str
        Table, see `table_files.read_table`; the first row of a file of text names the columns.
    text_column : str
        Name of the column of texts; an empty cell is an empty text.
    label_column : str, optional
        Name of the column of labels.
    stem : bool, default=False
        Whether to count word stems instead of words, see `tfidf`.
    scaling : {"unit", "paper"}, default="unit"
        Length of the rows, see `scale_rows`.

    Returns
    -------
    X : Texts
        The texts.
    y : ndarray of shape (n,) or None
        Labels; None without `label_column`.

    Raises
    ------
    InputError
        If the file is damaged or lacks a column, or a row has no label.
    """
    file = Path(path)
    names, rows = read_table(file, wanted=[text_column, label_column or ""])
    text = column_position(file, names, "text_column", text_column)
    label = column_position(file, names, "label_column", label_column)
    documents, labels = [], []
    for number, cells in rows:
        documents.append("" if cells[text] is None else str(cells[text]))
        if label is not None:
            labels.append(label_of(cells[label], file, number, names[label]))
    return Texts(documents, stem, scaling), None if label is None else label_vector(labels, file)
