"""
Single cells
============

Counts of genes in single cells are made as a file of AnnData, ``cells.h5ad``, and clustered; new cells, with
their genes in another order, get clusters by the model. It takes half a minute. As in the
:doc:`table of your own <plot_3_table>`, run the Python code in the folder of a clone, and type into a shell
there what this page has in ``shell(...)``.
"""

# %%
# 1. The file
# -----------
# 450 cells of three kinds, 300 genes. Each kind has 15 marker genes; the depth of sequencing differs from
# cell to cell by more than the kinds do. Scanpy writes such a file by ``adata.write_h5ad``; this page does
# it by h5py: the counts as a sparse matrix, and the names of cells (``obs``) and genes (``var``).

# sphinx_gallery_start_ignore
from docs.extension.shell import Shell

shell = Shell()
# sphinx_gallery_end_ignore
import h5py
import numpy as np
from scipy.sparse import csr_matrix

rng = np.random.default_rng(0)
kinds = rng.integers(3, size=450)
rates = rng.gamma(0.2, 1, 300) * np.ones((3, 300))
for kind in range(3):
    rates[kind, 15 * kind : 15 * kind + 15] = rng.gamma(2, 1, 15)
depth = rng.lognormal(6, 0.8, (450, 1))
counts = rng.poisson(depth * (rates / rates.sum(1, keepdims=True))[kinds]).astype(np.float32)
cells = [f"AAACCTG{i:04}-1" for i in range(450)]
genes = [f"GENE{i}" for i in range(300)]


def write_h5ad(path: str, X: np.ndarray, cells: list[str], genes: list[str], kinds: np.ndarray) -> None:
    """Write counts with the names of cells and genes, and the kinds of the cells."""
    with h5py.File(path, "w") as file:
        matrix, group = csr_matrix(X), file.create_group("X")
        group.attrs.update({"encoding-type": "csr_matrix", "shape": X.shape})
        for part in ("data", "indices", "indptr"):
            group[part] = getattr(matrix, part)
        for axis, names in (("obs", cells), ("var", genes)):
            file.create_group(axis).attrs["_index"] = "_index"
            file[f"{axis}/_index"] = names
        file["obs/kind"] = np.array(["B cell", "T cell", "monocyte"])[kinds].tolist()


write_h5ad("cells.h5ad", counts, cells, genes, kinds)
totals = counts.sum(1)
print(f"{(counts == 0).mean():.0%} zeros, {totals.min():.0f} to {totals.max():.0f} counts per cell")

# %%
# 2. Raw counts
# -------------
# Without a word on the scaling, each gene is scaled to [0, 1], and the log says that these look like
# counts. K-means on them finds the depth of sequencing, not the kinds.

data = "--set path=cells.h5ad --set n_clusters=3 --set label_array=obs/kind"
place = "--results results"
shell(f"python -m dekm prepare raw --raw-dir raw {place} {data}")
shell(f"python -m dekm cluster raw k_means --seeds 0 --device cpu {place}")

# %%
# 3. Counts of equal depth
# ------------------------
# ``scaling: counts`` divides each cell by its total, times 10,000, and takes the logarithm of 1 + x, as
# ``normalize_total(target_sum=1e4)`` and ``log1p`` of Scanpy do (Wolf, Angerer and Theis, 2018). In a
# configuration these settings stand in the block of the dataset: :doc:`/docs/how-to/kinds-of-data`. A file
# that holds principal components is often clustered best by them, ``array: obsm/X_pca`` and ``scaling:
# none``.

sizes = "--set hidden=[64,64] --set n_epochs=20 --set batch_size=32"
shell(f"python -m dekm prepare cells --raw-dir raw {place} {data} --set scaling=counts")
shell(f"python -m dekm cluster cells k_means --seeds 0 --device cpu {place}")
shell(f"python -m dekm pretrain cells mlp --seeds 0 --device cpu {place} {sizes}")
shell(f"python -m dekm cluster cells dekm --seeds 0 --device cpu {place} --set max_iter=10")

# %%
# The scores of the three runs, in percent:

# sphinx_gallery_start_ignore
shell.enter()
# sphinx_gallery_end_ignore
import json
from pathlib import Path

for run in ("raw/k_means", "cells/k_means", "cells/dekm"):
    metrics = json.loads(Path(f"results/runs/{run}/seed0/metrics.json").read_text(encoding="utf-8"))
    print(f"{run:14} ACC {100 * metrics['acc']:5.1f}, NMI {100 * metrics['nmi']:5.1f}")

# %%
# ``clusters.csv`` has the barcode of each cell, its cluster, and how clearly it belongs there:

shell("head -n 4 results/runs/cells/dekm/seed0/clusters.csv")

# %%
# 4. New cells
# ------------
# The genes of another file are found by their names, in whatever order, and its counts are scaled in the
# same way. A file that lacks some of the genes is refused by their names. With ``label_array`` the line has
# scores.

# sphinx_gallery_start_ignore
shell.enter()
# sphinx_gallery_end_ignore
order = rng.permutation(300)
new = rng.poisson(depth[:60] * (rates / rates.sum(1, keepdims=True))[kinds[:60]]).astype(np.float32)
write_h5ad("new.h5ad", new[:, order], [f"new{i}" for i in range(60)], [genes[i] for i in order], kinds[:60])
shell(
    "python -m dekm predict results/runs/cells/dekm/seed0 --set path=new.h5ad --set label_array=obs/kind "
    "--out new.csv"
)

# %%
# In Python, the model scales raw counts itself. Its columns are the genes in ``feature_names_in_``, and a
# data frame with others, or in another order, is refused.

# sphinx_gallery_start_ignore
shell.enter()
# sphinx_gallery_end_ignore
from dekm import DEKM

model = DEKM.load("results/runs/cells/dekm/seed0/model.safetensors")
print(model.feature_names_in_[:4], np.bincount(model.labels_))

# %%
# What next: :doc:`/docs/own-data` has the workflow with tables and figures, whose table of clusters names
# the genes by which a cluster stands out.

# sphinx_gallery_start_ignore
shell.close()
# sphinx_gallery_end_ignore
