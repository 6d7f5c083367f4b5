"""A working directory in which the workflow runs for real, on a tiny configuration."""

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import yaml
from mlflow import MlflowClient

from dekm.tracking.database import DATABASE, forget_connections, tracking_uri

ROOT = Path(__file__).parents[2]
TINY = {
    "name": "tiny",
    "seeds": [0, 1],
    "device": "cpu",
    "threads": 1,
    "pretraining": {"n_epochs": 2, "channels": [4, 8, 8], "hidden": [32, 16]},
    "datasets": {"digits": {"subsample": 300}},
    "methods": {"k_means": {"n_init": 2}, "ae_k_means": {"n_init": 2}, "dekm": {"max_iter": 2, "n_init": 2}},
}


class Workspace:
    """A working directory with a configuration, in which the workflow runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results = folder / "results" / "tiny"

    @classmethod
    def copied(cls, source: Path, folder: Path) -> "Workspace":
        """A copy of a working directory, with its store at the new place."""
        shutil.copytree(source, folder)
        with closing(sqlite3.connect(folder / "results" / DATABASE)) as connection:
            for column in ("experiments.artifact_location", "runs.artifact_uri"):
                table, _, name = column.partition(".")
                change = f"UPDATE {table} SET {name} = replace({name}, ?, ?)"
                connection.execute(change, (source.as_uri(), folder.as_uri()))
            connection.commit()
        return cls(folder)

    def command(self, *arguments: str, config: dict | None = None, snakefile: str = "Snakefile") -> list[str]:
        (self.folder / "config.yaml").write_text(yaml.safe_dump(config or TINY))
        options = ["-s", str(ROOT / snakefile), "--directory", str(self.folder), "--cores", "2"]
        options += ["--configfile", str(self.folder / "config.yaml"), "--workflow-profile", "none"]
        return [sys.executable, "-m", "snakemake", *arguments, *options]

    def run(
        self, *arguments: str, config: dict | None = None, snakefile: str = "Snakefile", ok: bool = True
    ) -> str:
        done = subprocess.run(
            self.command(*arguments, config=config, snakefile=snakefile),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert (done.returncode == 0) is ok, done.stdout
        return done.stdout

    def planned(
        self, *arguments: str, config: dict | None = None, snakefile: str = "Snakefile"
    ) -> dict[str, int]:
        """Number of jobs per rule that a dry run announces."""
        output = self.run(*arguments, "-n", "--quiet", "host", config=config, snakefile=snakefile)
        if "Nothing to be done" in output:
            return {}
        lines = (
            output.rpartition("-----  \n")[2] if "-----  \n" in output else output.rpartition("-------\n")[2]
        )
        stats = [line.split() for line in lines.partition("\n\n")[0].splitlines()]
        return {rule: int(count) for rule, count in stats if rule != "total"}

    def ids(self, method: str) -> dict[str, str]:
        """The identity of every seed's run: it changes when the run is made again."""
        folders = sorted((self.results / "runs" / "digits" / method).glob("seed*"))
        return {folder.name: json.loads((folder / "facts.json").read_text())["id"] for folder in folders}

    def stored_runs(self) -> list:
        uri = tracking_uri(self.folder / "results")
        forget_connections(uri)  # a workflow may have replaced the database
        client = MlflowClient(uri)
        experiment = client.get_experiment_by_name("tiny")
        return list(client.search_runs([experiment.experiment_id]))
