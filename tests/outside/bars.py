"""Bars of the ACC of the methods on one dataset, with the standard deviation over the seeds."""

import sys
from pathlib import Path
from statistics import mean, pstdev

from matplotlib.figure import Figure

from dekm.results.folders import CellFolder

out, *files = sys.argv[1:]
cells = [CellFolder(Path(file).parent) for file in files]
scores = [[100 * seed.metrics["acc"] for seed in cell.seeds()] for cell in cells]
figure = Figure(figsize=(5, 2.5), layout="constrained")
axes = figure.subplots()
labels = [cell.seeds()[0].label for cell in cells]
axes.barh(labels, [mean(acc) for acc in scores], xerr=[pstdev(acc) for acc in scores])
axes.set_xlabel("ACC (%)")
figure.savefig(out, dpi=150)
