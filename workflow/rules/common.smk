import json
import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

ROOT = Path(workflow.current_basedir).parent.parent
sys.path.insert(0, str(ROOT))

from dekm.config import read_experiment
from dekm.errors import InputError
from dekm.provenance import source_digest

try:
    EXPERIMENT = read_experiment(config, ROOT / "config" / "config.schema.yaml")
except InputError as error:
    raise WorkflowError(str(error))

for reason in EXPERIMENT.left_out.values():
    logger.warning(reason)
if not EXPERIMENT.datasets:
    raise WorkflowError("No dataset is left to run.")

RESULTS = str(EXPERIMENT.results)
THREADS = EXPERIMENT.option("threads", 8)
SEEDS = EXPERIMENT.seeds
# These decide no result: they are resources of the rules, since a change of params would rerun jobs.
DEVICE = EXPERIMENT.option("device", "auto")
GPUS = 0 if DEVICE == "cpu" else 1
FRESH = "--fresh" if EXPERIMENT.option("fresh", False) else ""
MIRROR = EXPERIMENT.option("mirror", None)
MIRROR = f"--mirror {shlex.quote(MIRROR)}" if MIRROR else ""
ENVIRONMENT = str(ROOT / "environment.yml")


# The jobs find the package also from another working directory, and in an environment without it.
shell.prefix(
    f"export PYTHONPATH={shlex.quote(str(ROOT))}:$PYTHONPATH; set -euo pipefail; "
)


wildcard_constraints:
    dataset="|".join(EXPERIMENT.datasets),
    method="|".join(EXPERIMENT.methods),
    architecture="conv|mlp",


def results(wildcards):
    """Folder of the results."""
    return RESULTS


def arguments(settings):
    """Settings as arguments of the command line."""
    pairs = (f"{name}={json.dumps(value)}" for name, value in settings.items())
    return " ".join(f"--set {shlex.quote(pair)}" for pair in pairs)


def raw_facts(wildcards):
    """What prepare waits for: the raw files, the user's own data, or nothing where data are embedded."""
    dataset = EXPERIMENT.datasets[wildcards.dataset]
    return rules.download.output if dataset.raw else dataset.options.get("path", [])


def dataset_arguments(wildcards):
    """Options of a dataset."""
    held = (
        " --licence-held" if EXPERIMENT.datasets[wildcards.dataset].restricted else ""
    )
    return arguments(EXPERIMENT.options(wildcards.dataset)) + held


def loader_sources(wildcards):
    """Digest of the code that makes the prepared data of a dataset."""
    loader = EXPERIMENT.datasets[wildcards.dataset].loader.partition(":")[0]
    return source_digest("dekm.datasets.prepared", loader)


def subsample_argument(wildcards):
    """How many samples of a dataset to keep."""
    subsample = EXPERIMENT.subsample(wildcards.dataset)
    return "" if subsample is None else f"--subsample {subsample}"


def pretraining_arguments(wildcards):
    """Settings of the autoencoders of a dataset."""
    return arguments(EXPERIMENT.pretraining(wildcards.dataset))


def method_arguments(wildcards):
    """Parameters of a cell."""
    return arguments(EXPERIMENT.parameters(wildcards.dataset, wildcards.method))


def method_sources(wildcards):
    """Digest of the code that makes the runs of a method."""
    return source_digest(EXPERIMENT.method_module(wildcards.method), "dekm.metrics")


def pretrained(wildcards):
    """The autoencoders that a cell starts from; nothing for a method without."""
    architecture = EXPERIMENT.architecture(wildcards.dataset, wildcards.method)
    return (
        expand(
            rules.pretrain.output, dataset=wildcards.dataset, architecture=architecture
        )
        if architecture
        else []
    )


def summaries(datasets):
    """The cells of a table."""
    return expand(rules.cluster.output, dataset=datasets, method=EXPERIMENT.methods)
