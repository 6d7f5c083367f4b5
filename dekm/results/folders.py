"""The folders that results consist of: prepared data, seeds, and the cells above them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dekm.errors import InputError, shown
from dekm.files.leftovers import PART, REPLACED, temporaries
from dekm.files.reading import check_fields, damaged, read_json
from dekm.results.record import Record, read_record
from dekm.results.seed import SeedFolder


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
    def name(self) -> tuple[str, str]:
        """Dataset, and method or architecture."""
        dataset, subject = self.seed(0).parts[-3:-1]
        return dataset, subject

    @property
    def summary_file(self) -> Path:
        """File of the seeds that count, with their keys and ids."""
        return self.path / "summary.json"

    def seed(self, seed: int | str) -> SeedFolder:
        """The folder of one seed."""
        return SeedFolder(self.path / f"seed{seed}")

    def seed_folders(self) -> list[SeedFolder]:
        """The folders of complete seeds, whether they count or not."""
        numbers = (path.name.removeprefix("seed") for path in self.path.glob("seed*") if path.is_dir())
        return [self.seed(number) for number in sorted(filter(str.isdecimal, numbers), key=int)]

    def started_seeds(self) -> set[Path]:
        """Folders of the seeds that processes make now, or were making when they were killed."""
        return {found.target for found in temporaries(self.path, "seed*", PART, REPLACED)}

    def checkpoint_file(self, seed: int | str) -> Path:
        """File of the state of a seed that is being made, from which an interrupted job continues."""
        return self.path / f".seed{seed}.checkpoint.safetensors"

    def counted(self, *, failed: bool = False) -> dict[str, dict[str, str]]:
        """The key and the id of each seed that counts, by number; with `failed` of those that failed too."""
        remedy = f"Run '{self.seed(0).command}' again: it makes the summary again from the seeds."
        summary = {"failed": {}, **read_json(self.summary_file, {"seeds": dict}, remedy)}
        check_fields(self.summary_file, summary, {"failed": dict}, remedy)
        seeds: dict[str, dict[str, str]] = summary["seeds"] | (summary["failed"] if failed else {})
        for seed, entry in seeds.items():
            if not (seed.isdecimal() and isinstance(entry, dict)):
                problem = f"the entry of seed {shown(seed)} should be an object with key and id"
                raise damaged(self.summary_file, problem, remedy)
            check_fields(self.summary_file, entry, {"key": str, "id": str}, remedy)
        return seeds

    def seeds(self, *, failed: bool = False) -> list[Record]:
        """The seeds that count; with `failed` those that failed too.

        Raises
        ------
        InputError
            If there is no summary, or a seed is not complete, is damaged or was made with other settings.
        """
        if not self.summary_file.is_file():
            raise InputError(f"{self.path} should be the folder of a cell; it holds no summary.json.")
        return [self.record(seed, entry) for seed, entry in self.counted(failed=failed).items()]

    def record(self, seed: str, entry: Mapping[str, str]) -> Record:
        """A complete seed; what its entry in the summary, if it has one, says of it has to be true."""
        record = read_record(self.seed(seed).path)
        if {name: record.facts[name] for name in entry} != entry:
            problem = f"{record.path} is not the run that {self.summary_file} counts: it was replaced"
            raise InputError(f"{problem}. {record.remedy}")
        return record


def read_run(path: Path) -> Record:
    """The run in the folder of a seed, or the first that counts in that of a cell; else `InputError`."""
    cell = CellFolder(path)
    if not cell.summary_file.is_file():
        return read_record(path)
    for seed, entry in cell.counted().items():
        return cell.record(seed, entry)
    raise InputError(f"{path} has no seed that counts.")
