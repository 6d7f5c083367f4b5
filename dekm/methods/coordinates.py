"""Coordinates of samples without a network: principal components, UMAP and a spectral embedding."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.sparse.csgraph import connected_components
from sklearn.decomposition import PCA
from sklearn.manifold import spectral_embedding
from sklearn.neighbors import kneighbors_graph
from sklearn.utils import check_array

from dekm.clustering.restarts import one_thread
from dekm.errors import InputError, first_line

FEWEST = 3  # samples of which UMAP makes a graph
MISSING = "UMAP needs the package umap-learn: pip install 'dekm[umap]'."
EXACT = 2000  # samples or features up to which a few components are computed exactly


def fit_pca(X: Float[np.ndarray, "n d"], n_components: float, *, seed: int | None = None) -> PCA:
    """The leading principal components: a number of them, or the fewest that explain a fraction of variance.

    The mean is subtracted first, since float32 covariances of values far from the origin lose their digits.
    A number of components of more than `EXACT` samples and features is computed by the randomized
    algorithm of Halko, Martinsson and Tropp (2011), to which `seed` belongs.

    Raises
    ------
    InputError
        If the variance is infinite in float32.
    """
    mean = X.mean(axis=0, dtype=np.float64).astype(np.float32)
    centered = X - mean
    if not np.isfinite(np.vdot(centered, centered)):
        raise InputError(
            f"X has values up to {np.abs(centered).max():.3g} from their mean, whose squares have no finite "
            "sum in float32: PCA needs samples of a smaller scale."
        )
    is_random = n_components >= 1 and min(X.shape) > EXACT
    solver = "randomized" if is_random else pca_solver(*X.shape)
    pca = PCA(n_components, svd_solver=solver, copy=False, random_state=seed)
    with np.errstate(invalid="ignore"):  # equal samples have no variance, of which a fraction is 0 / 0
        pca.fit(centered)
    pca.mean_ += mean
    # A loaded file has the components in C order. The memory order decides the last bits of a matrix
    # product, so the fitted components are stored in that order too.
    pca.components_ = np.ascontiguousarray(pca.components_)
    return pca


def pca_solver(n_samples: int, n_features: int) -> str:
    """The cheaper exact solver of scikit-learn's PCA; both are deterministic.

    The eigenvectors of the covariance matrix take O(n d^2 + d^3) operations and d^2 values, the singular
    vectors of the samples, for n < d, O(n^2 d) operations and n d values.
    """
    return "covariance_eigh" if n_samples >= n_features else "full"


def umap_coordinates(
    P: Float[np.ndarray, "n d"],
    n_components: int,
    seed: int,
    *,
    n_neighbors: int = 20,
    min_dist: float = 0.0,
    n_epochs: int | None = None,
) -> Float[np.ndarray, "n e"]:
    """UMAP coordinates, see `UMAPGMM`, computed by one thread.

    Raises
    ------
    InputError
        If umap-learn is not installed, or there are too few points.
    """
    UMAP = load_umap()
    if len(P) < FEWEST:
        raise InputError(f"n_samples={len(P)} should be >= {FEWEST}: UMAP needs neighbours.")
    manifold = UMAP(
        n_components=n_components,
        n_neighbors=min(n_neighbors, len(P) - 1),
        min_dist=min_dist,
        n_epochs=n_epochs,
        init="spectral" if len(P) > n_components + 1 else "random",  # it needs e + 1 eigenvectors
        random_state=seed,
        n_jobs=1,
    )
    with one_thread():  # Numba sets the number of PyTorch's threads to its own, and leaves it so
        return manifold.fit_transform(P)


def load_umap() -> Any:
    """UMAP's class; `InputError` if its package is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ImportWarning)  # TensorFlow is missing, which is not used
            from umap import UMAP
    except ImportError as error:
        raise InputError(f"{MISSING} ({first_line(error)})") from error
    return UMAP


def spectral_coordinates(
    P: Float[np.ndarray, "n d"],
    n_components: int,
    random_state: int | np.random.RandomState,
    *,
    n_neighbors: int = 10,
) -> tuple[Float[np.ndarray, "n e"], int]:
    """Eigenvectors of a graph of neighbours, see `SpectralClustering`, and its number of components."""
    N = kneighbors_graph(P, min(n_neighbors, len(P)), mode="connectivity", include_self=True)
    A = (N + N.T) / 2
    with warnings.catch_warnings():
        # Each further component has an eigenvalue of 1 too, whose eigenvector indicates its samples.
        warnings.filterwarnings("ignore", "Graph is not fully connected")
        V = spectral_embedding(
            A,
            n_components=max(2, n_components),  # LOBPCG computes no single one
            eigen_solver="lobpcg",
            random_state=random_state,
            drop_first=False,
        )
    n_connected = int(connected_components(A, directed=False)[0])
    return np.ascontiguousarray(V[:, :n_components], dtype=np.float32), n_connected


def scaled_spectral_coordinates(
    P: Float[np.ndarray, "n d"], n_components: int, seed: int
) -> Float[np.ndarray, "n e"]:
    """The spectral coordinates with a mean square of 1; `InputError` if there are too few points."""
    if n_components > len(P):
        raise InputError(
            f"embedding_dim={n_components} should be <= n_samples={len(P)} with init='spectral'."
        )
    V, _ = spectral_coordinates(P, n_components, np.random.RandomState(seed))
    return V / np.sqrt(np.mean(V**2))


# By their words: the coordinates in e dimensions of points (n, d), under a seed.
COORDINATES: dict[str, Callable[..., np.ndarray]] = {
    "umap": umap_coordinates,
    "spectral": scaled_spectral_coordinates,
}


def check_coordinates(given: Any, shape: tuple[int, int]) -> Float[np.ndarray, "n e"]:
    """A float32 copy of given coordinates; `InputError` unless they are finite and of a shape."""
    try:
        Z = check_array(given, dtype=np.float32, input_name="coordinates", copy=True)
    except ValueError as error:
        raise InputError(str(error)) from error
    if Z.shape != shape:
        raise InputError(f"coordinates of shape {Z.shape} should be (n, embedding_dim) = {shape}.")
    return Z
