"""
A table of your own, from CSV to report
=======================================

The measurements of 178 wines are written to a CSV file, as you may have one, and the workflow makes runs,
tables, figures and a report of it. This page runs the commands in a temporary folder; in a clone of the
project you type those that begin with ``$``.
"""

# %%
# 1. The file
# -----------
# Every column is a feature but the one of the labels, which is optional and only used for scores. Features
# with large values would dominate, so they are scaled to mean 0 and standard deviation 1.

import os
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

import pandas as pd
from sklearn.datasets import load_wine

import dekm

wine = load_wine(as_frame=True)
table = ((wine.data - wine.data.mean()) / wine.data.std()).round(4)
table["grower"] = wine.target.map({0: "first", 1: "second", 2: "third"})

folder = Path(mkdtemp())
table.to_csv(folder / "wines.csv", index=False)
table.iloc[:3, [0, 1, 2, -1]]

# %%
# 2. The configuration
# --------------------
# ``my.yaml`` names the file, the number of clusters, the methods and the seeds. The pretraining is short,
# so that this page is made in a minute. :doc:`/docs/reference/configuration` has all keys.

configuration = """
name: mine
seeds: [0, 1]
device: cpu
threads: 1
datasets:
  wines: {path: wines.csv, n_clusters: 3, label_column: grower}
pretraining: {n_epochs: 30, batch_size: 32, hidden: [64, 64], embedding_dim: 3}
methods:
  k_means: {}
  dekm: {max_iter: 10, n_batches: 10, tol: 0.01}
"""
(folder / "my.yaml").write_text(configuration)


def run(command: str) -> str:
    """Run a command of this page in the temporary folder; its output, or its error."""
    program, *arguments = shlex.split(command)
    project = Path(dekm.__file__).parents[1]
    if program == "snakemake":
        arguments += ["--snakefile", str(project / "Snakefile"), "--workflow-profile", "none", "--cores", "2"]
    environment = os.environ | {"PYTHONPATH": str(project), "COLUMNS": "100"}
    module = {"python": [], "snakemake": ["-m", "snakemake"]}[program]
    done = subprocess.run(
        [sys.executable, *module, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr or done.stdout)
    return done.stdout


print("$ python -m dekm config my.yaml")
print(run("python -m dekm config my.yaml"))

# %%
# 3. Run
# ------
# Both methods run with both seeds. The paper's numbers are missing in the table, because the paper has no
# wines. 178 samples are few for an autoencoder: compare a deep method with K-means before you trust it.

run("snakemake --configfile my.yaml")
print("$ snakemake --configfile my.yaml")
print("$ cat results/mine/tables/table3.md")
print((folder / "results/mine/tables/table3.md").read_text())

# %%
# Each seed has a folder with its model, labels, embedding, history and facts;
# :doc:`/docs/reference/results` describes every file.

seed = folder / "results/mine/runs/wines/dekm/seed0"
for file in sorted(seed.iterdir()):
    print(f"{file.stat().st_size:8,} bytes  {file.name}")

# %%
# 4. A figure
# -----------
# The workflow draws the history and the confusion matrix of the first seed of each cell.

import matplotlib.pyplot as plt

figures = folder / "results/mine/figures/runs/wines/dekm"
figure, axes = plt.subplots(figsize=(8, 6))
axes.imshow(plt.imread(figures / "confusion.png"))
axes.set_axis_off()
plt.show()

# %%
# 5. The report
# -------------
# One HTML page with tables, figures and run times, which needs no network:

run("snakemake --configfile my.yaml --report results/mine/report.html")
print("$ snakemake --configfile my.yaml --report results/mine/report.html")
print(f"{(folder / 'results/mine/report.html').stat().st_size / 1e6:.1f} MB")

# %%
# 6. New samples
# --------------
# New rows get clusters by the model of a run. Columns are matched by name, and the labels are not needed.

table.drop(columns="grower").sample(5, random_state=0).to_csv(folder / "new.csv", index=False)
command = "python -m dekm predict results/mine/runs/wines/dekm/seed0 --set path=new.csv --out clusters.csv"
run(command)
print(f"$ {command}")
pd.read_csv(folder / "clusters.csv")

# %%
# The temporary folder is removed.

import shutil

shutil.rmtree(folder)
