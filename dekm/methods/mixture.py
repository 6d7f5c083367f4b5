"""Gaussian mixtures by scikit-learn."""

from typing import Literal

import numpy as np
from jaxtyping import Float
from sklearn.mixture import GaussianMixture
from torch import Tensor

from dekm.errors import InputError, first_line


def fit_mixture(
    H: Float[Tensor, "n e"],
    n_clusters: int,
    *,
    covariance_type: Literal["full", "diag"],
    n_init: int,
    random_state: np.random.RandomState,
) -> tuple[GaussianMixture, Float[np.ndarray, "n e"]]:
    """A mixture of k Gaussians, fitted in float64, and the points in float64.

    `InputError` if the points do not determine so many Gaussians.
    """
    points = H.cpu().double().numpy()
    mixture = GaussianMixture(
        n_clusters, covariance_type=covariance_type, n_init=n_init, random_state=random_state
    )
    try:
        return mixture.fit(points), points
    except ValueError as error:
        raise InputError(
            f"n_clusters={n_clusters} Gaussians do not fit {len(points)} samples: {first_line(error)}."
        ) from error
