"""Results of single runs as the tables load them."""

from dekm.results.result_set import ResultSet
from dekm.results.runs import read_runs
from dekm.tables.loading import LoadedResults, load_cells


def read_results(results, datasets, methods, **more) -> LoadedResults:
    """All cells of a folder of results; see `load_cells` for further parameters."""
    cells = [(dataset, method) for dataset in datasets for method in methods]
    return load_cells(results, read_runs(ResultSet(results), datasets, methods), cells, **more)
