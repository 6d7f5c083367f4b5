"""The page of a published set: what was measured, where, and what is missing."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dekm.markup import markdown
from dekm.results.seed import FAILED

MACHINE = ("commit", "machine", "kernels", "versions")


def set_page(name: str, seeds: pd.DataFrame, plan: Mapping[str, Any], *, with_verdicts: bool) -> str:
    """What was measured, where, and what is missing."""
    machines = seeds[[*MACHINE]].fillna("").drop_duplicates().to_dict("records")
    described = ["; ".join(f"{key}: {text}" for key, text in made.items() if text) for made in machines]
    lines = [
        f"# Results of {name}",
        "",
        f"Written by `python -m dekm publish` from {len(seeds)} complete seeds. [table3.md](table3.md)",
        "is the table,",
        *(["[verdicts.md](verdicts.md) says what of the paper it reproduces,"] if with_verdicts else []),
        "`runs.csv` has each seed with its settings, seconds, commit and digests, and `history/` each run by",
        "iteration.",
        "",
        "## Machine and versions",
        "",
        *(f"- {markdown(text)}" for text in described),
        "",
        "## Missing",
        "",
        *missing_seeds(plan, seeds),
        *failed_seeds(seeds),
    ]
    return "\n".join(lines) + "\n"


def missing_seeds(plan: Mapping[str, Any], seeds: pd.DataFrame) -> list[str]:
    """One line per dataset whose planned cells lack seeds."""
    known = {(row.stage, row.dataset, row.subject, row.seed) for row in seeds.itertuples()}
    lacking: dict[str, dict[str, list[str]]] = {}
    try:
        for cell in plan["cells"]:
            name = (cell["stage"], cell["dataset"], cell["subject"])
            n_found = sum((*name, seed) in known for seed in cell["seeds"])
            if n_found < len(cell["seeds"]):
                found = f"{n_found} of {len(cell['seeds'])} seeds"
                lacking.setdefault(cell["dataset"], {}).setdefault(found, []).append(cell["subject"])
    except (KeyError, TypeError):  # no plan, or that of another version
        return ["Not known: there is no plan.json."]
    lines = [f"- {dataset}: {'; '.join(map(_lacking, cells.items()))}" for dataset, cells in lacking.items()]
    return ["Of what the last of the published results planned:", "", *lines] if lines else ["Nothing."]


def failed_seeds(seeds: pd.DataFrame) -> list[str]:
    """One line per seed whose fit has failed, below a heading; nothing without any."""
    failed = seeds[seeds[FAILED].fillna("") != ""]
    lines = [
        f"- {row['subject']} on {row['dataset']}, seed {row['seed']}: {markdown(row[FAILED])}"
        for row in failed.to_dict("records")
    ]
    return ["", "## Failed", "", *lines] if lines else []


def _lacking(cells: tuple[str, list[str]]) -> str:
    found, names = cells
    return f"{', '.join(names)}: {found}{' each' if len(names) > 1 else ''}"
