"""UMAP whose machine code is kept, by Numba, for the next process."""

import sys
from typing import Any

from dekm.methods import coordinates

load_umap = coordinates.load_umap  # which tests replace by `load`


def load() -> Any:
    """Import UMAP as the package does, and keep the machine code of its functions."""
    UMAP = load_umap()
    for name in ("umap.umap_", "umap.utils", "umap.layouts"):
        for function in vars(sys.modules[name]).values():
            if getattr(function, "__module__", "") == name and hasattr(function, "enable_caching"):
                function.enable_caching()
    return UMAP
