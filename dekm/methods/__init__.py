"""The rows of Table III. A new method is one file with an estimator and one row here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any, Literal

from dekm.errors import InputError


@dataclass(frozen=True)
class Method:
    """A row of Table III.

    Attributes
    ----------
    label : name in the paper
    estimator : "module:Class"; a string, so that reading this table imports no estimator
    autoencoder : which shared pretrained autoencoder it starts from: "matching" is convolutional for
        images and fully connected for vectors, "mlp" is fully connected always, None is none
    params : the parameters that make this row what it is among those of its class
    settings_of : the method whose settings in a configuration this one takes; its own if None
    in_table : whether it is a row of Table III
    """

    label: str
    estimator: str
    autoencoder: Literal["matching", "mlp"] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    settings_of: str | None = None
    in_table: bool = True

    @property
    def module(self) -> str:
        """The module that defines the estimator."""
        return self.estimator.partition(":")[0]

    def with_settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """These settings of the estimator and the parameters of the row.

        Raises
        ------
        InputError
            If they contradict each other: the row would carry the name of another method.
        """
        for name, value in self.params.items():
            if settings.get(name, value) != value:
                raise InputError(
                    f"{name}={settings[name]!r} should stay {value!r}: it makes {self.label} what it is."
                )
        return {**self.params, **settings}

    def load(self) -> Any:
        """Import and return the estimator's class."""
        return resolve_name(self.estimator)

    def architecture(self, kind: str) -> Literal["conv", "mlp"] | None:
        """The autoencoder this method starts from on samples of a kind: "images", or any other."""
        if self.autoencoder == "matching":
            return "conv" if kind == "images" else "mlp"
        return self.autoencoder


# The strategies of Section IV-F, in the paper's order: what moves, and in which space.
_MOVES = (("Y", "last"), ("Y", "random"), ("Y", "all"), ("H", "random"), ("H", "all"))
STRATEGIES: dict[str, Method] = {
    f"strategy_{i}": Method(
        f"Strategy {i}",
        "dekm.methods.dekm:DEKM",
        "matching",
        {"space": space, "dims": dims},
        settings_of="dekm",
        in_table=False,
    )
    for i, (space, dims) in enumerate(_MOVES, start=1)
}

METHODS: dict[str, Method] = {
    "k_means": Method("K-means", "dekm.methods.baselines:KMeans"),
    "pca_k_means": Method("PCA+K-means", "dekm.methods.baselines:PCAKMeans"),
    "ae_k_means": Method("AE+K-means", "dekm.methods.baselines:AEKMeans", "matching"),
    "dec": Method("DEC", "dekm.methods.dec:DEC", "mlp", {"reconstruction": False}),
    "dcec": Method("DCEC", "dekm.methods.dec:DEC", "matching", {"reconstruction": "images"}),
    "idec": Method("IDEC", "dekm.methods.dec:DEC", "mlp", {"reconstruction": True}),
    "dcn": Method("DCN", "dekm.methods.dcn:DCN", "mlp"),
    "dkm": Method("DKM", "dekm.methods.dkm:DKM", "mlp"),
    "dekm": Method("DEKM", "dekm.methods.dekm:DEKM", "matching"),
    "dekm_f": Method("DEKM_F", "dekm.methods.dekm:DEKM", "matching", {"n_batches": "pass"}),
}


def find_method(name: str) -> Method:
    """A row of Table III, or a strategy of Figure 4."""
    return METHODS[name] if name in METHODS else STRATEGIES[name]
