import json
import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

ROOT = Path(workflow.current_basedir).parent.parent
sys.path.insert(0, str(ROOT))

from dekm.datasets.user.folders import visible_files
from dekm.errors import InputError
from dekm.experiment.checks import read_experiment
from dekm.experiment.config_file import read_config_file
from dekm.experiment.gpus import count_gpus, has_gpu_build
from dekm.experiment.plan import write_plan
from dekm.experiment.provenance import (
    method_sources,
    pretraining_sources,
    source_digest,
)
from dekm.files import digest, files_digest
from dekm.methods import STRATEGIES
from dekm.tracking.server import PENDING, default_store, read_store

for folder in (ROOT, Path.cwd()):
    if set("{}:") & set(str(folder)):
        raise WorkflowError(
            f"{folder}: rename the folder; the workflow cannot run in a path with a brace or colon."
        )

# The experiment

# Modules that the configuration names are searched in the folder of its file.
MODULES = Path((workflow.configfiles or ["."])[-1]).absolute().parent

try:
    for file in workflow.configfiles:
        read_config_file(Path(file))
    EXPERIMENT = read_experiment(
        config, ROOT / "config" / "config.schema.yaml", MODULES
    )
    STORE = EXPERIMENT.get("tracking", None)
    STORE = STORE or default_store(EXPERIMENT.results.parent)
    read_store(STORE)
except InputError as error:
    raise WorkflowError(str(error))

config.update(EXPERIMENT.config)  # the report shows it

for name, reason in EXPERIMENT.left_out.items():
    logger.warning(
        f"{name} is left out: it {reason}. If you hold it, set licence_held: true in its block."
    )
if not EXPERIMENT.datasets:
    raise WorkflowError("No dataset is left to run.")

RESULTS = str(EXPERIMENT.results)
FIRST_PAGE = Path(RESULTS, "tables", "table3.html")  # what the report opens on
config["first_page"] = str(FIRST_PAGE) if FIRST_PAGE.is_file() else ""
SEEDS = EXPERIMENT.seeds
IMAGE_DATASETS = [
    name for name, row in EXPERIMENT.datasets.items() if row.kind == "images"
]
PAPER_DATASETS = {
    line.partition(",")[0]
    for line in (ROOT / "resources/paper/table3.csv").read_text().splitlines()[1:]
}
OTHER_DATASETS = [name for name in EXPERIMENT.datasets if name not in PAPER_DATASETS]
ENVIRONMENT = str(ROOT / "environment.yml")
CONTAINER = EXPERIMENT.get("container", None) or "dekm.sif"

# Settings that do not affect the results. They are resources, because a change of params would rerun jobs.

THREADS = EXPERIMENT.get("threads", 8)
DEVICE = EXPERIMENT.get("device", "auto")
GPUS = 0 if DEVICE == "cpu" else 1
FRESH = "--fresh" if EXPERIMENT.get("fresh", False) else ""
KEEP_MODELS = EXPERIMENT.get("keep_models", "all")
MODULES = f"--modules {shlex.quote(str(MODULES))}"

# On one machine every job that trains has a GPU of its own. On a cluster its scheduler sees to that.

ON_CLUSTER = workflow.resource_settings.nodes is not None

if GPUS and workflow.is_main_process:
    n_gpus = None if ON_CLUSTER else count_gpus(DEVICE)
    if n_gpus:
        workflow.global_resources.setdefault("gpu", n_gpus)
    installed_here = not workflow.deployment_settings.deployment_method
    if (n_gpus or ON_CLUSTER) and installed_here and not has_gpu_build():
        logger.warning(
            "The installed PyTorch is built for CPUs only: jobs that are given a GPU will train on the CPU."
            " Install a build for GPUs (https://pytorch.org), or set device: cpu in the configuration."
        )

# The jobs import the package from this repository, whatever their working directory and environment.

shell.prefix(
    f"export PYTHONPATH={shlex.quote(str(ROOT))}:$PYTHONPATH; set -euo pipefail; "
)


wildcard_constraints:
    dataset="|".join(EXPERIMENT.blocks),
    method="|".join([*EXPERIMENT.methods, "dekm", *STRATEGIES]),
    architecture="(conv|mlp|network)(-[0-9a-f]+)?",


# Arguments of the command line


def quoted(text):
    """A word of bash without "<": Snakemake's report writes the params of jobs into a script."""
    return shlex.quote(text).replace("<", "'$'\\x3c''")


def set_arguments(settings, option="--set"):
    """Settings as arguments."""
    pairs = (f"{name}={json.dumps(value)}" for name, value in settings.items())
    return " ".join(f"{option} {quoted(pair)}" for pair in pairs)


def dataset_arguments(wildcards):
    """Options of a dataset's loader, and the statement that the user holds its licence."""
    block = EXPERIMENT.blocks[wildcards.dataset]
    held = " --licence-held" if block.row.restricted else ""
    return set_arguments(block.loader_options) + held


def mirror_argument(wildcards):
    """The mirror of raw files; a function, since its name may hold braces."""
    mirror = EXPERIMENT.get("mirror", None)
    return f"--mirror {quoted(mirror)}" if mirror else ""


def part_arguments(wildcards):
    """Size of the subsample and number of classes of a dataset."""
    block = EXPERIMENT.blocks[wildcards.dataset]
    parts = {"subsample": block.subsample, "classes": block.n_classes}
    return " ".join(
        f"--{name} {value}" for name, value in parts.items() if value is not None
    )


def pretraining_arguments(wildcards):
    """Settings of the autoencoders of a dataset."""
    settings = EXPERIMENT.pretraining_settings(
        wildcards.dataset, wildcards.architecture
    )
    return set_arguments(settings)


def method_arguments(wildcards):
    """Parameters of a cell."""
    return set_arguments(
        EXPERIMENT.method_settings(wildcards.dataset, wildcards.method)
    )


def definition_arguments(wildcards):
    """Definition of a method that the configuration defines; nothing for the others."""
    if wildcards.method not in EXPERIMENT.own_methods:
        return ""
    definition = EXPERIMENT.method(wildcards.method).definition
    return set_arguments(definition, "--define")


def start_arguments(wildcards):
    """The pretrained autoencoders of a cell, if they are not those of its architecture; and their network."""
    key = EXPERIMENT.pretraining(wildcards.dataset, wildcards.method) or ""
    arguments = f"--pretrained {key}" if key not in ("", "conv", "mlp") else ""
    if key.startswith("network"):
        network = EXPERIMENT.pretraining_settings(wildcards.dataset, key)["network"]
        arguments += f" --network {shlex.quote(network)}"
    return arguments


def label_arguments(wildcards):
    """Labels of the methods that the configuration defines; a function, since they may hold braces."""
    return " ".join(
        f"--label {quoted(f'{name}={EXPERIMENT.method(name).label}')}"
        for name in EXPERIMENT.own_methods
    )


def left_out_arguments(wildcards):
    """Reasons why datasets are left out of the tables."""
    return " ".join(
        f"--left-out {quoted(f'{name}={reason}')}"
        for name, reason in EXPERIMENT.left_out.items()
    )


# Resources


def growing(first):
    """A resource of which every further attempt of a job gets as much more."""
    return lambda wildcards, attempt: first * attempt


def device_of_method(wildcards):
    """The device of a cell: K-means and PCA+K-means train nothing and leave the GPUs to the others."""
    method = EXPERIMENT.method(wildcards.method)
    trains_nothing = method.is_ours and method.autoencoder is None
    return "cpu" if DEVICE == "auto" and trains_nothing else DEVICE


def gpus_of_method(wildcards):
    """Number of GPUs of a cell."""
    return 0 if device_of_method(wildcards) == "cpu" else 1


# Inputs


def raw_files(wildcards):
    """Inputs of a dataset's preparation: verified raw files, the user's own files, or nothing."""
    block = EXPERIMENT.blocks[wildcards.dataset]
    options = block.row.options
    own = [options[name] for name in ("path", "labels") if name in options]
    return expand(rules.download.output, dataset=block.base) if block.row.raw else own


def pretrained_autoencoders(wildcards):
    """The pretrained autoencoders of a cell; nothing for a method without autoencoder."""
    key = EXPERIMENT.pretraining(wildcards.dataset, wildcards.method)
    found = expand(
        rules.pretrain.output, dataset=wildcards.dataset, architecture=key or []
    )
    return found


def cells(datasets, methods=EXPERIMENT.methods):
    """Summaries of the cells of datasets and methods."""
    return expand(rules.cluster.output, dataset=datasets, method=methods)


def cells_of_figure(figure, methods):
    """Summaries of the cells of a figure; nothing if the figure is not drawn."""
    return cells(EXPERIMENT.figures.get(figure, []), methods)


def figures_of_runs(datasets):
    """Figures of the first run of DEKM and of the user's methods; on own data, of all methods."""
    return [
        folder
        for dataset in datasets
        for folder in expand(
            rules.figures_of_run.output,
            dataset=dataset,
            method=(
                EXPERIMENT.methods
                if {"path", "loader"} & {*EXPERIMENT.blocks[dataset].settings}
                else RUN_METHODS
            ),
        )
    ]


# Digests of code and files, which rerun the jobs when they change


def loader_digest(wildcards):
    """Digest of the code that prepares a dataset."""
    row = EXPERIMENT.blocks[wildcards.dataset].row
    own = [row.options["loader"]] if "loader" in row.options else []
    modules = [loader.partition(":")[0] for loader in (row.loader, *own)]
    return source_digest("dekm.datasets.preparation", *modules)


def pretraining_digest(wildcards):
    """Digest of the code that affects the autoencoders of a dataset."""
    settings = EXPERIMENT.pretraining_settings(
        wildcards.dataset, wildcards.architecture
    )
    return digest(pretraining_sources(settings.get("network")))


def method_digest(wildcards):
    """Digest of the code that affects the runs of a method."""
    return digest(method_sources(EXPERIMENT.method(wildcards.method).module))


def own_files_digest(wildcards):
    """Digest of the files in a user's folder, of which Snakemake checks only the modification time."""
    path = EXPERIMENT.blocks[wildcards.dataset].row.options.get("path")
    is_folder = path is not None and Path(path).is_dir()
    return files_digest(visible_files(Path(path))) if is_folder else ""


def remove_pending(markers):
    """Remove the signs of updates of a server that it has not got, so that they are tried again."""
    for marker in markers:
        if marker.is_file() and marker.read_text() == PENDING:
            marker.unlink()


# Params computed from wildcards, inputs or outputs


def results_folder(wildcards):
    """Folder of the results; a function, since Snakemake takes a constant for a hard-coded path."""
    return RESULTS


def raw_folder(wildcards):
    """Folder of raw files; a function, since Snakemake would take braces in a constant for wildcards."""
    return EXPERIMENT.get("raw_dir", "resources/raw")


def store_of_runs(wildcards):
    """The MLflow store: a server, or the folder above the results."""
    return STORE


def base_dataset(wildcards):
    """The dataset that a block of the configuration prepares, completely or in part."""
    return EXPERIMENT.blocks[wildcards.dataset].base


def dataset_seeds(wildcards):
    """Seeds of the runs on a dataset."""
    return EXPERIMENT.blocks[wildcards.dataset].seeds


def output_folder(wildcards, output):
    """Folder of the outputs of a rule."""
    return Path(output[0]).parent


def input_folders(wildcards, input):
    """Folders of the inputs of a rule."""
    return [Path(file).parent for file in input]


def first_seed_folders(wildcards, input):
    """Folder of the first seed of each cell in the inputs of a rule."""
    return [Path(file).parent / f"seed{SEEDS[0]}" for file in input]
