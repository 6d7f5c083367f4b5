from dekm.methods import METHODS
from tests.helpers.methods import every_method


@every_method
def test_a_row_names_an_estimator_its_parameters_and_its_autoencoder(name):
    row = METHODS[name]
    assert set(row.params) <= set(row.load()._get_param_names())
    assert row.architecture("images", {}) in ("conv", "mlp", None)
    assert row.architecture("text", {}) == ("mlp" if row.autoencoder else None)
    assert ("autoencoder" in row.load()._get_param_names()) == (row.autoencoder is not None)
