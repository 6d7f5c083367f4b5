import json
import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

ROOT = Path(workflow.current_basedir).parent.parent
sys.path.insert(0, str(ROOT))

from dekm.experiment.checks import read_experiment
from dekm.datasets.user.folders import visible_files
from dekm.errors import InputError
from dekm.files import files_digest
from dekm.experiment.provenance import method_sources, pretraining_sources, source_digest

try:
    EXPERIMENT = read_experiment(config, ROOT / "config" / "config.schema.yaml")
except InputError as error:
    raise WorkflowError(str(error))

for name, reason in EXPERIMENT.left_out.items():
    logger.warning(
        f"{name} is left out: it {reason}. If you hold it, set licence_held: true in its block."
    )
if not EXPERIMENT.datasets:
    raise WorkflowError("No dataset is left to run.")

RESULTS = str(EXPERIMENT.results)
THREADS = EXPERIMENT.option("threads", 8)
SEEDS = EXPERIMENT.seeds
STRATEGIES = [f"strategy_{i}" for i in range(1, 6)]
IMAGE_DATASETS = [
    name for name, row in EXPERIMENT.datasets.items() if row.kind == "images"
]
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
    dataset="|".join([*EXPERIMENT.datasets, "fig1"]),
    method="|".join([*EXPERIMENT.methods, "dekm", "strategy_[1-5]"]),
    architecture="conv|mlp",


def results(wildcards):
    """Folder of the results."""
    return RESULTS


def arguments(settings):
    """Settings as arguments of the command line."""
    pairs = (f"{name}={json.dumps(value)}" for name, value in settings.items())
    return " ".join(f"--set {shlex.quote(pair)}" for pair in pairs)


def base(wildcards):
    """The dataset of the tables that a dataset is, or is a part of."""
    return (
        EXPERIMENT.figures["fig1"] if wildcards.dataset == "fig1" else wildcards.dataset
    )


def raw_facts(wildcards):
    """What prepare waits for: the raw files, the user's own data, or nothing where data are embedded."""
    dataset = EXPERIMENT.row(wildcards.dataset)
    raw = expand(rules.download.output, dataset=base(wildcards))
    own = [
        dataset.options[name] for name in ("path", "labels") if name in dataset.options
    ]
    return raw if dataset.raw else own


def own_files(wildcards):
    """Digest of the files of a user's folder: Snakemake itself looks at the time of the folder only."""
    path = EXPERIMENT.row(wildcards.dataset).options.get("path")
    is_folder = path is not None and Path(path).is_dir()
    return files_digest(visible_files(Path(path))) if is_folder else ""


def dataset_arguments(wildcards):
    """Options of a dataset."""
    held = " --licence-held" if EXPERIMENT.row(wildcards.dataset).restricted else ""
    return arguments(EXPERIMENT.options(base(wildcards))) + held


def loader_sources(wildcards):
    """Digest of the code that makes the prepared data of a dataset."""
    loader = EXPERIMENT.row(wildcards.dataset).loader.partition(":")[0]
    return source_digest("dekm.datasets.prepared", loader)


def part_arguments(wildcards):
    """How many samples and classes of a dataset to keep."""
    parts = {
        "subsample": EXPERIMENT.subsample(wildcards.dataset),
        "classes": EXPERIMENT.n_classes(wildcards.dataset),
    }
    return " ".join(
        f"--{name} {value}" for name, value in parts.items() if value is not None
    )


def seeds(wildcards):
    """All seeds; Figure 1 shows the first."""
    return SEEDS[:1] if wildcards.dataset == "fig1" else SEEDS


def pretraining_arguments(wildcards):
    """Settings of the autoencoders of a dataset."""
    settings = EXPERIMENT.pretraining(wildcards.dataset, wildcards.architecture)
    return arguments(settings)


def method_arguments(wildcards):
    """Parameters of a cell."""
    return arguments(EXPERIMENT.parameters(wildcards.dataset, wildcards.method))


def sources_of_method(wildcards):
    """Digest of the code that decides the runs of a method."""
    return method_sources(EXPERIMENT.method_module(wildcards.method))


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


def strategy_summaries():
    """The cells of Figure 4, if it is drawn."""
    dataset = EXPERIMENT.figures.get("fig4", [])
    return expand(rules.cluster.output, dataset=dataset, method=STRATEGIES)


def embedding_summaries():
    """The cells of Figure 5, if it is drawn."""
    shown = [
        method
        for method in ("pca_k_means", "ae_k_means", "dec", "dekm")
        if method in EXPERIMENT.methods
    ]
    return expand(
        rules.cluster.output, dataset=EXPERIMENT.figures.get("fig5", []), method=shown
    )


def run_figures():
    """The figures of DEKM's first run on each dataset."""
    shown = [method for method in EXPERIMENT.methods if method == "dekm"]
    return expand(
        rules.figures_of_run.output, dataset=EXPERIMENT.datasets, method=shown
    )


def left_out_arguments():
    """Why datasets are left out of the tables."""
    return " ".join(
        f"--left-out {shlex.quote(f'{name}={reason}')}"
        for name, reason in EXPERIMENT.left_out.items()
    )


def folder_of_output(wildcards, output):
    """Folder of the files that a rule writes."""
    return Path(output[0]).parent


def folders_of_input(wildcards, input):
    """Folders of the files that a rule reads."""
    return [Path(file).parent for file in input]


def first_seed_folders(wildcards, input):
    """Folder of the first seed of each cell that a rule reads."""
    return [Path(file).parent / f"seed{SEEDS[0]}" for file in input]
