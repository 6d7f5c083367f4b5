"""The folders that results consist of: prepared data, seeds, and the cells above them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dekm.errors import InputError, shown
from dekm.files.leftovers import PART, REPLACED, temporaries
from dekm.files.reading import NUMBER, check_fields, damaged, read_json
from dekm.results.data import PreparedData
from dekm.results.seed import SEED_FILES, SeedFolder, complete_run

__all__ = ["SEED_FILES", "CellFolder", "PreparedData", "SeedFolder", "complete_run"]


@dataclass(frozen=True)
class CellFolder:
    """The folder above the seeds of a cell.

    Attributes
    ----------
    path : Path
        The folder.
    """

    path: Path

    @property
    def summary_file(self) -> Path:
        """File of the scores of all seeds."""
        return self.path / "summary.json"

    def seed(self, seed: int | str) -> SeedFolder:
        """The folder of one seed."""
        return SeedFolder(self.path / f"seed{seed}")

    def started_seeds(self) -> set[Path]:
        """Folders of the seeds that processes make now, or were making when they were killed."""
        return {found.target for found in temporaries(self.path, "seed*", PART, REPLACED)}

    def checkpoint_file(self, seed: int | str) -> Path:
        """File of the state of a seed that is being made, from which an interrupted job continues."""
        return self.path / f".seed{seed}.checkpoint.safetensors"

    def summary(self) -> dict[str, Any]:
        """What the cell is, and the metrics of each seed by its number."""
        fields = {"dataset": str, "seeds": dict}
        if self.path.absolute().parts[-3:-2] == ("runs",):
            fields |= {"method": str, "label": str}
        summary = read_json(self.summary_file, fields, self.remedy)
        for seed, run in summary["seeds"].items():
            if not (seed.isdecimal() and isinstance(run, dict)):
                raise damaged(self.summary_file, f"the entry of seed {shown(seed)} is none", self.remedy)
            metrics = {name: value for name, value in run.items() if name != "key"}
            check_fields(self.summary_file, run, dict.fromkeys(metrics, (*NUMBER, type(None))), self.remedy)
        return summary

    @property
    def remedy(self) -> str:
        """What to do about a damaged summary."""
        return f"Run '{self.seed(0).command}' again: it makes the summary again from the seeds."

    def seeds(self) -> list[SeedFolder]:
        """The complete seeds that the summary names.

        Raises
        ------
        InputError
            If there is no summary, or a seed is not complete.
        """
        if not self.summary_file.is_file():
            raise InputError(f"{self.path} should be the folder of a cell; it holds no summary.json.")
        return [complete_run(self.seed(seed).path) for seed in self.summary()["seeds"]]
