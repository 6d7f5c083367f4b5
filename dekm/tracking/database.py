"""The database of an MLflow store: built whole, checked when it is opened, and built again if it is unusable.

The folders of results are the truth, so a database that cannot be used is set aside and made again.
"""

import logging
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from dekm.errors import InputError
from dekm.files.atomic import atomic_file, set_aside

if TYPE_CHECKING:
    from mlflow import MlflowClient

logger = logging.getLogger(__name__)

DATABASE = "mlflow.db"
ARTIFACTS = "mlartifacts"


def tracking_uri(store: Path) -> str:
    """URI of the database of a store; `InputError` if the path has a '?', behind which options follow."""
    return _uri(store.absolute() / DATABASE)


def artifacts_uri(store: Path, name: str) -> str:
    """URI of the folder of the artifacts of one experiment."""
    return (store.absolute() / ARTIFACTS / name).as_uri()


def open_store(store: Path) -> tuple["MlflowClient", bool]:
    """Open the database of a store, which is created if it does not exist; needs the lock of the store.

    The second value tells whether it is new, so that all runs have to be logged.
    """
    from mlflow import MlflowClient

    database = store / DATABASE
    problem = find_problem(store) if os.path.lexists(database) else ""
    if problem:
        aside = _move(store)
        logger.warning("%s %s; it is kept as %s and made again from the runs", database, problem, aside)
        logger.warning("If 'make ui' is running, start it again")
    created = not database.exists()
    if created:
        _create(database)
        forget_connections(tracking_uri(store))
    return MlflowClient(tracking_uri(store)), created


def find_problem(store: Path) -> str:
    """Why the database of a store cannot be used: not one, of another version, or moved; empty if it can.

    `InputError` if it cannot be read now, for instance since another program has locked it.
    """
    database = store / DATABASE
    if not database.is_file():
        return "is not a file"
    try:
        # Not read-only: the journal that a killed writer left has to be rolled back.
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=rw", uri=True)) as connection:
            versions = connection.execute("SELECT version_num FROM alembic_version").fetchall()
            places = connection.execute("SELECT artifact_location FROM experiments").fetchall()
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and "no such table" not in str(error):
            raise InputError(f"{database} cannot be opened: {error}.") from error
        return f"is damaged ({error})"
    if versions != [(_newest_version(),)]:
        return "was made by another version of MLflow"
    if any(_is_elsewhere(place, store) for (place,) in places if place):
        return "was made when the project was at another place"
    return ""


def _move(store: Path) -> Path:
    """Set the database aside, with its journals and artifacts."""
    database = store / DATABASE
    aside = set_aside(database)
    for journal in store.glob(f"{DATABASE}-*"):
        os.replace(journal, f"{aside}{journal.name.removeprefix(DATABASE)}")
    if (store / ARTIFACTS).exists():
        set_aside(store / ARTIFACTS)
    return aside


def _create(database: Path) -> None:
    """Build the database under another name, so that a kill leaves either none or a whole one."""
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    with atomic_file(database) as temporary:
        uri = _uri(temporary)
        SqlAlchemyStore(uri, artifacts_uri(database.parent, "default"))
        forget_connections(uri)


def forget_connections(uri: str) -> None:
    """Close the connections to a database, whose file is about to get or has got another name."""
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    engine = SqlAlchemyStore._engine_map.get(uri)
    if engine is not None:
        engine.dispose()


def _uri(database: Path) -> str:
    if "?" in str(database):
        raise InputError(f"{database}: MLflow cannot open a database in a folder with '?' in its path.")
    return f"sqlite:///{database}"


def _newest_version() -> str:
    from mlflow.store.db.utils import _get_latest_schema_revision

    version: str = _get_latest_schema_revision()
    return version


def _is_elsewhere(location: str, store: Path) -> bool:
    """Whether a location of artifacts has the form of `artifacts_uri`, but for a store at another place."""
    found = re.fullmatch(rf"file://.*/{ARTIFACTS}/([^/]+)", location)
    return found is not None and not location.startswith(artifacts_uri(store, ""))


def local_path(uri: str) -> Path:
    """Path of a ``file:`` URI."""
    return Path(unquote(urlsplit(uri).path))
