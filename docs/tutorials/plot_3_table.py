"""
A table of your own, from CSV to report
=======================================

The measurements of 178 wines are written to a CSV file, as you may have one, and the workflow makes runs,
tables, figures and a report of it. You need a clone of the project with its environment activated
(``source .venv/bin/activate``). Run the Python code in its folder, and type there into a shell what this page
has in ``shell(...)``; the output follows a ``$``.
"""

# %%
# 1. The file
# -----------
# Every column is a feature but the one of the labels, which is optional and only used for scores.

# sphinx_gallery_start_ignore
from docs.extension.shell import Shell

shell = Shell()
# sphinx_gallery_end_ignore
from sklearn.datasets import load_wine

wine = load_wine(as_frame=True)
growers = {0: "first", 1: "second", 2: "third"}
table = wine.data.assign(grower=wine.target.map(growers))
table.to_csv("wines.csv", index=False)
table.iloc[:3, [0, 1, 2, -1]]

# %%
# 2. The configuration
# --------------------
# ``my.yaml`` names the file, the number of clusters, the methods and the seeds. The columns are measured in
# different units, and those with large values would dominate, so ``scaling: standard`` gives each a mean of 0
# and a variance of 1. The pretraining is short, so that this page is made in a minute.
# :doc:`/docs/reference/configuration` has all keys.

# sphinx_gallery_start_ignore
shell.enter()
# sphinx_gallery_end_ignore
from pathlib import Path

configuration = """
name: mine
seeds: [0, 1]
device: cpu
threads: 1
datasets:
  wines:
    path: wines.csv
    n_clusters: 3
    label_column: grower
    scaling: standard
pretraining: {n_epochs: 30, batch_size: 32, hidden: [64, 64], embedding_dim: 3}
methods:
  k_means: {}
  dekm: {max_iter: 10, n_batches: 10, tol: 0.01}
"""
with Path("my.yaml").open("w", encoding="utf-8") as file:
    file.write(configuration)

# %%
# 3. Run
# ------
# Both methods run with both seeds, which takes about a minute; in a shell, Snakemake prints each job. 178
# samples are few for an autoencoder: compare a deep method with K-means before you trust it.

shell("snakemake --configfile my.yaml")
shell("cat results/mine/tables/table3.md")

# %%
# Each seed has a folder with its model, labels, embedding, history and facts;
# :doc:`/docs/reference/results` describes every file.

shell("ls results/mine/runs/wines/dekm/seed0")

# %%
# 4. A figure
# -----------
# The workflow draws the curves and the confusion matrix of the first seed of each method on each dataset. The
# purity of a cluster, above the matrix, is the share of its largest class.

# sphinx_gallery_start_ignore
shell.enter()
# sphinx_gallery_end_ignore
import matplotlib.pyplot as plt

plt.figure(figsize=(8, 6))
plt.imshow(plt.imread("results/mine/figures/runs/wines/dekm/confusion.png"))
plt.axis("off")
plt.show()

# %%
# 5. The report
# -------------
# One HTML page with tables, figures and run times, which a browser opens without a network:

shell("snakemake --configfile my.yaml --report results/mine/report.html")

# %%
# 6. New samples
# --------------
# New rows get clusters by the model of a run. Columns are matched by name and scaled as those of the run, and
# the labels are not needed.

# sphinx_gallery_start_ignore
shell.enter()
# sphinx_gallery_end_ignore
table.drop(columns="grower").sample(5, random_state=0).to_csv("new.csv", index=False)
shell("python -m dekm predict results/mine/runs/wines/dekm/seed0 --set path=new.csv --out clusters.csv")

# %%
# The file has a line for each row, in its order: its cluster, the distance to the center of the cluster, and
# the margin, which is near 0 for a row between two clusters.

shell("cat clusters.csv")

# %%
# What next: :doc:`/docs/own-data` does the same with a folder of images, and
# :doc:`/docs/how-to/kinds-of-data` has a block for each kind of data.

# sphinx_gallery_start_ignore
shell.close()
# sphinx_gallery_end_ignore
