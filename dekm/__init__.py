"""Deep Embedded K-Means (Guo, Lin and Ye, 2021) and the methods it is compared with, as estimators.

The symbols of Table I with their names and shapes in the code. Points are rows; eigenvectors are rows of V.

========  ===================================  ==================  ==========
symbol    interpretation                       name                shape
========  ===================================  ==================  ==========
n         number of data points                ``n``, n_samples
d         dimension of the input space         ``d``
e         dimension of the embedding space     embedding_dim
k         number of clusters                   n_clusters
X         data matrix                          ``X``               (n, d) or (n, h, w, c)
H         data embeddings                      ``H``, embedding_   (n, e)
U         cluster centroids                    ``U``               (k, e)
C         clusters                             labels, labels_     (n,)
S_w       within-class scatter matrix          ``S_w``             (e, e)
V         orthonormal transformation matrix    ``V``               (e, e)
Y = V H   data in the transformed space        ``Y = H @ V.T``     (n, e)
M         centroids in the transformed space   ``M = U @ V.T``     (k, e)
f, g      encoder, decoder                     encoder, decoder
========  ===================================  ==================  ==========
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dekm.methods.acedec import ACeDeC
    from dekm.methods.ae_k_means import AEKMeans
    from dekm.methods.autoencoder import Autoencoder
    from dekm.methods.base import Clusterer
    from dekm.methods.baselines import KMeans, PCAKMeans
    from dekm.methods.dcn import DCN
    from dekm.methods.dec import DEC
    from dekm.methods.deep import DeepClusterer
    from dekm.methods.dekm import DEKM
    from dekm.methods.dkm import DKM
    from dekm.methods.edesc import EDESC
    from dekm.methods.iteration import Iteration
    from dekm.methods.n2d import N2D
    from dekm.methods.spectral import SpectralClustering
    from dekm.methods.umap_gmm import UMAPGMM
    from dekm.methods.vade import VaDE

__version__ = "0.1.0"
__all__ = [
    "DCN",
    "DEC",
    "DEKM",
    "DKM",
    "EDESC",
    "N2D",
    "UMAPGMM",
    "ACeDeC",
    "AEKMeans",
    "Autoencoder",
    "Clusterer",
    "DeepClusterer",
    "Iteration",
    "KMeans",
    "PCAKMeans",
    "SpectralClustering",
    "VaDE",
]

HOME = {  # the module of every public class
    "Autoencoder": "dekm.methods.autoencoder",
    "KMeans": "dekm.methods.baselines",
    "PCAKMeans": "dekm.methods.baselines",
    "AEKMeans": "dekm.methods.ae_k_means",
    "DEC": "dekm.methods.dec",
    "DCN": "dekm.methods.dcn",
    "DKM": "dekm.methods.dkm",
    "DEKM": "dekm.methods.dekm",
    "SpectralClustering": "dekm.methods.spectral",
    "UMAPGMM": "dekm.methods.umap_gmm",
    "EDESC": "dekm.methods.edesc",
    "VaDE": "dekm.methods.vade",
    "ACeDeC": "dekm.methods.acedec",
    "N2D": "dekm.methods.n2d",
    "Clusterer": "dekm.methods.base",
    "DeepClusterer": "dekm.methods.deep",
    "Iteration": "dekm.methods.iteration",
}


def __getattr__(name: str) -> Any:
    """Import a class at its first use, so that the workflow can import the package without PyTorch."""
    if name in HOME:
        return getattr(import_module(HOME[name]), name)
    raise AttributeError(f"module 'dekm' has no attribute {name!r}")
