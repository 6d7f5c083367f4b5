"""The methods of Table III. A new method is one module with an estimator and one row of METHODS.

A configuration may define further rows: an estimator outside of the package, or a variant of a known method.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from dekm.errors import InputError, shown, unknown_name
from dekm.outside import load_attribute


@dataclass(frozen=True)
class Method:
    """A row of Table III.

    Attributes
    ----------
    label : str
        Name in the paper, or in the tables.
    estimator : str
        Import path "module:Class"; a string, so that importing this module imports no estimator.
    autoencoder : {"matching", "mlp"} or None
        The pretrained autoencoder that the method starts from: convolutional for images and fully connected
        for vectors, always fully connected, or none.
    params : mapping of str to Any
        The parameters of the class that define this method.
    settings_of : str, optional
        The method whose settings in a configuration this one takes where it has no settings of its own.
    in_table : bool
        Whether it is a row of Table III.
    of_paper : bool
        Whether it is a row of the paper's table too; a configuration need not have the others.
    extra : str, optional
        The extra of this package that the method needs, and the module in it.
    """

    label: str
    estimator: str
    autoencoder: Literal["matching", "mlp"] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    settings_of: str | None = None
    in_table: bool = True
    of_paper: bool = True
    extra: str | None = None

    @property
    def module(self) -> str:
        """The module that defines the estimator."""
        return self.estimator.partition(":")[0]

    def with_settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters of the estimator: `settings` and those that define the method.

        Raises
        ------
        InputError
            If a setting changes a parameter that defines the method.
        """
        for name, value in self.params.items():
            if settings.get(name, value) != value:
                raise InputError(
                    f"{name}={shown(settings[name])} should stay {value!r}: it makes {self.label} what it is."
                )
        return {**self.params, **settings}

    def load(self) -> Any:
        """Import and return the estimator's class.

        Raises
        ------
        InputError
            If there is none.
        """
        return load_attribute(self.estimator)

    @property
    def is_ours(self) -> bool:
        """Whether the estimator is one of this package."""
        return self.module.startswith("dekm.")

    @property
    def definition(self) -> dict[str, Any]:
        """What a job needs to know of a row that a configuration defines."""
        return {"estimator": self.estimator, "label": self.label, "autoencoder": self.autoencoder}

    def architecture(self, kind: str, settings: Mapping[str, Any]) -> Literal["conv", "mlp"] | None:
        """The architecture of the pretrained autoencoder for samples of a kind: "images", or any other."""
        if (
            settings.get("annealed") is True and self.is_ours
        ):  # DKM then starts from an untrained one of its own
            return None
        if self.autoencoder == "matching":
            return "conv" if kind == "images" else "mlp"
        return self.autoencoder


METHODS: dict[str, Method] = {
    "k_means": Method("K-means", "dekm.methods.baselines:KMeans"),
    "pca_k_means": Method("PCA+K-means", "dekm.methods.baselines:PCAKMeans"),
    "ae_k_means": Method("AE+K-means", "dekm.methods.ae_k_means:AEKMeans", "matching"),
    "dec": Method("DEC", "dekm.methods.dec:DEC", "mlp", {"reconstruction": False}),
    "dcec": Method("DCEC", "dekm.methods.dec:DEC", "matching", {"reconstruction": "images"}),
    "idec": Method("IDEC", "dekm.methods.dec:DEC", "mlp", {"reconstruction": True}),
    "dcn": Method("DCN", "dekm.methods.dcn:DCN", "mlp"),
    "dkm": Method("DKM", "dekm.methods.dkm:DKM", "mlp"),
    "dekm": Method("DEKM", "dekm.methods.dekm:DEKM", "matching"),
    "dekm_f": Method("DEKM_F", "dekm.methods.dekm:DEKM", "matching", {"n_batches": "pass"}),
    "spectral": Method("Spectral clustering", "dekm.methods.spectral:SpectralClustering", of_paper=False),
    "umap_gmm": Method("UMAP+GMM", "dekm.methods.umap_gmm:UMAPGMM", of_paper=False, extra="umap"),
    "n2d": Method("N2D", "dekm.methods.n2d:N2D", "matching", of_paper=False, extra="umap"),
    "edesc": Method("EDESC", "dekm.methods.edesc:EDESC", "mlp", of_paper=False),
    "vade": Method("VaDE", "dekm.methods.vade:VaDE", "mlp", of_paper=False),
    "acedec": Method("ACe/DeC", "dekm.methods.acedec:ACeDeC", "matching", of_paper=False),
}


# The strategies of Section IV-F in the paper's order: the space, and the dimensions that are replaced in it.
_STRATEGY_PARAMS = (("Y", "last"), ("Y", "random"), ("Y", "all"), ("H", "random"), ("H", "all"))
STRATEGIES: dict[str, Method] = {
    f"strategy_{i}": replace(
        METHODS["dekm"],
        label=f"Strategy {i}",
        params={"space": space, "dims": dims},
        settings_of="dekm",
        in_table=False,
    )
    for i, (space, dims) in enumerate(_STRATEGY_PARAMS, start=1)
}
KNOWN = METHODS | STRATEGIES

# Keys of a method's block in a configuration that are not parameters of the estimator.
DEFINITION = ("estimator", "method", "label", "autoencoder")


def find_method(name: str, blocks: Mapping[str, Any] | None = None) -> Method:
    """The method with this key.

    Parameters
    ----------
    name : str
        Key of a method of Table III, of a strategy of Figure 4, or of a block that defines a method.
    blocks : mapping, optional
        The blocks of a configuration by name. A block defines a method by `estimator`, an import path, or it
        defines a variant by `method`, the name of another one; both may have `label` and `autoencoder`.

    Raises
    ------
    InputError
        If there is no such method.
    """
    block = (blocks or {}).get(name) or {}
    if name in KNOWN:
        return KNOWN[name]
    if "estimator" in block:
        return Method(block.get("label", name), block["estimator"], block.get("autoencoder"))
    if "method" not in block:
        raise InputError(unknown_name("", name, list(METHODS)) + " A method of your own is module:Class.")
    row = find_method(block["method"], blocks)
    autoencoder = block.get("autoencoder", row.autoencoder)
    return replace(row, label=block.get("label", name), autoencoder=autoencoder, settings_of=block["method"])
