"""What the children of the campaign have imported before they fork."""

import importlib

import torch

MODULES = (
    "dekm.experiment.jobs",
    "dekm.methods.ae_k_means",
    "dekm.methods.baselines",
    "dekm.methods.dekm",
    "dekm.tables",
    "mlflow.store.tracking.sqlalchemy_store",
    "mlflow.tracking",
)
for module in MODULES:
    importlib.import_module(module)
torch.set_num_threads(1)
