r"""
DEKM step by step in two dimensions
===================================

One iteration of Algorithm 1 of the paper, with the functions of the package and a picture of each step. The
embedding has two dimensions, so nothing is hidden by a projection.
"""

# %%
# Line 1: an embedding
# --------------------
# Four digits are embedded by an autoencoder that is pretrained with Equation (1). The rows of ``H`` are the
# embedded samples.

import matplotlib.pyplot as plt
import torch
from sklearn.datasets import load_digits

from dekm import DEKM, Autoencoder
from dekm.clustering.kmeans import kmeans
from dekm.clustering.scatter import sorted_eigenvectors, within_class_scatter
from dekm.methods.representation import move_to_centroids, representation_loss

digits = load_digits(n_class=4)
X = digits.images / 16
autoencoder = Autoencoder(
    embedding_dim=2, channels=(16, 32, 64), n_epochs=60, batch_size=64, random_state=0, device="cpu"
).fit(X)
H = torch.tensor(autoencoder.transform(X))

plt.rcParams["figure.figsize"] = (5, 4)
plt.scatter(*H.T, s=6, color="0.5")
plt.title("the embedding H")
plt.axis("equal")
plt.show()

# %%
# Lines 3 and 4: K-means
# ----------------------
# The clusters minimize :math:`L_2`, Equation (2): the squared distances to the centroids, the rows of
# ``U``.

labels, U, inertia, n_iter = kmeans(H, 4, n_init=20, random_state=0)


def show(points, centers, labels, title):
    plt.scatter(*points.T, s=6, c=labels, cmap="tab10", vmax=9)
    plt.scatter(*centers.T, marker="x", color="black", zorder=3)
    plt.title(title)
    plt.axis("equal")


show(H, U, labels, f"K-means, $L_2$ = {inertia:.0f}")
plt.show()

# %%
# Lines 5 and 6: the within-class scatter and its eigenvectors
# -------------------------------------------------------------
# :math:`S_w`, Equation (4), sums the outer products of the samples about their centroids; its trace is
# :math:`L_2`. The rows of ``V`` are its eigenvectors by ascending eigenvalue. The samples scatter least
# about their centroids along the first, and most along the last, the black line: this direction has the
# least cluster structure.

S_w = within_class_scatter(H, labels, U)
V = sorted_eigenvectors(S_w)
print("trace of S_w:", round(float(S_w.trace()), 1), " L_2:", round(inertia, 1))
print("eigenvalues:", [round(value, 1) for value in torch.linalg.eigvalsh(S_w).tolist()])

show(H, U, labels, "the last eigenvector of $S_w$")
center, length = H.mean(0), 2 * float(H.std())
plt.plot(*torch.stack([center - length * V[-1], center + length * V[-1]]).T, color="black")
plt.show()

# %%
# The transformed space
# ---------------------
# ``Y = H V^T`` is the embedding in the basis of the eigenvectors, and ``M = U V^T`` are the centroids
# there. It is a rotation (and perhaps a reflection), so distances do not change, and :math:`L_2` is the
# same in both spaces: that is Equation (3).

Y, M = H @ V.T, U @ V.T
show(Y, M, labels, "the transformed space Y")
plt.xlabel("first eigenvector")
plt.ylabel("last eigenvector")
plt.show()

# %%
# The one direction that moves
# ----------------------------
# The target of a sample is the sample itself, but with the last coordinate of its centroid. All other
# coordinates stay, so the structure of the data is kept. Arrows lead from samples to their targets, all
# along the last eigenvector.

target = move_to_centroids(Y, M, labels, [1])
show(Y, M, labels, "targets y'")
some = slice(None, None, 6)
steps = (target - Y)[some]
plt.quiver(*Y[some].T, *steps.T, angles="xy", scale_units="xy", scale=1, width=0.003)
plt.xlabel("first eigenvector")
plt.ylabel("last eigenvector")
plt.show()

loss = representation_loss(H, V, target)
print("Equation (6) before the update, a mean over the samples:", round(float(loss), 3))

# %%
# Line 7: the encoder follows, and the next assignment
# ----------------------------------------------------
# Steps of Adam on Equation (6) move the embedded samples towards their targets as far as the encoder can:
# the same weights must serve all samples. Then K-means assigns again. :class:`~dekm.DEKM` does all of this;
# a hook collects its iterations.

from sklearn.frozen import FrozenEstimator

iterations = []
dekm = DEKM(
    4, autoencoder=FrozenEstimator(autoencoder), n_init=20, max_iter=8, tol=0, random_state=0,
    device="cpu", on_iteration=iterations.append,
)  # fmt: skip
import warnings

from sklearn.exceptions import ConvergenceWarning

with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # eight iterations are too few, as intended
    dekm.fit(X)

figure, panels = plt.subplots(1, 3, figsize=(10, 3.4))
for panel, n_iter in zip(panels, (0, 1, 8), strict=True):
    plt.sca(panel)
    state = iterations[n_iter]
    show(state.H, state.centers, state.labels, f"iteration {n_iter}, $L_2$ = {state.inertia:.0f}")
plt.tight_layout()
plt.show()

# %%
# :math:`L_2` falls because the scatter along the last eigenvector does. The scores are not part of the
# method, but we may look:

from dekm.metrics import accuracy

for state in iterations:
    acc = accuracy(digits.target, state.labels)
    print(f"iteration {state.n_iter}: L_2 = {state.inertia:6.1f}, ACC {acc:.3f}")

# %%
# :doc:`/docs/explanation/traceability` lists the function and the test of each line, and
# :doc:`/docs/deviations` what the paper leaves open.
