import os
import shlex
import sys
from base64 import b64encode
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError


include: "repository.smk"


sys.path.insert(0, str(ROOT))

from dekm.datasets.user.folders import visible_files
from dekm.errors import InputError
from dekm.experiment.checks import read_experiment
from dekm.experiment.config import ARCHITECTURES
from dekm.experiment.config_file import read_config_file
from dekm.experiment.plan import job_settings, write_plan
from dekm.experiment.provenance import (
    source_digest,
    method_sources,
    pretraining_sources,
)
from dekm.files import digest, files_digest, write_json
from dekm.methods import STRATEGIES
from dekm.results.result_set import FIGURES_OF_TABLES
from dekm.tracking.server import PENDING, default_store, read_store

for folder in (ROOT, Path.cwd()):
    if set("{}:") & set(str(folder)):
        raise WorkflowError(
            f"{folder}: rename the folder; the workflow cannot run in a path with a brace or colon."
        )

# Modules that the configuration names are searched in the folder of its file.
CONFIG_FOLDER = Path((workflow.configfiles or ["."])[-1]).absolute().parent


class FilesAsText(dict):
    """The contents of files by their paths: text as it is, and images in base64; nothing of a missing file."""

    def __missing__(self, path):
        if not Path(path).is_file():
            return ""
        content = Path(path).read_bytes()
        return (
            content.decode()
            if str(path).endswith(".html")
            else b64encode(content).decode()
        )


try:
    for file in workflow.configfiles:
        read_config_file(Path(file))
    EXPERIMENT = read_experiment(
        config, ROOT / "config" / "config.schema.yaml", CONFIG_FOLDER
    )
    MACHINE = EXPERIMENT.machine
    STORE = MACHINE.tracking or default_store(EXPERIMENT.results.parent)
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

BLOCKS = EXPERIMENT.blocks
RESULTS = str(EXPERIMENT.results)
config["files"] = (
    FilesAsText()
)  # from which the report makes its first page, in lines of any length
os.environ.setdefault("DOCUTILSCONFIG", str(ROOT / "workflow/report/docutils.conf"))
IMAGE_DATASETS = [
    name for name, row in EXPERIMENT.datasets.items() if row.kind == "images"
]
PAPER_DATASETS = {
    line.partition(",")[0]
    for line in (ROOT / "resources/paper/table3.csv").read_text().splitlines()[1:]
}
OTHER_DATASETS = [name for name in EXPERIMENT.datasets if name not in PAPER_DATASETS]
ENVIRONMENT = str(ROOT / "environment.yml")

# The jobs import the package from this repository, whatever their working directory and environment.

shell.prefix(
    f"export PYTHONPATH={shlex.quote(str(ROOT))}:$PYTHONPATH; set -euo pipefail; "
)


wildcard_constraints:
    dataset="|".join(BLOCKS),
    method="|".join([*EXPERIMENT.methods, "dekm", *STRATEGIES]),
    architecture=f"({'|'.join(ARCHITECTURES)})(-[0-9a-f]+)?",


@cache
def plan_of_module():
    """Write the plan of a workflow that uses this one as a module: Snakemake calls no onstart of modules."""
    write_plan(EXPERIMENT)


def settings_file(stage):
    """The file of what a job is told; its name has a digest of the content, so that a change reruns the job."""

    def write(wildcards):
        told = job_settings(EXPERIMENT, stage, *wildcards)
        path = Path(RESULTS, "settings", stage, *wildcards)
        path = path.with_name(f"{path.name}-{digest(told)[:12]}.json")
        is_run = workflow.executor_plugin is not None and not workflow.dryrun
        if is_run and not path.is_file():
            write_json(path, told)
        if is_run and workflow.is_main_process:
            plan_of_module()
        return str(path)

    return write


def quoted(text):
    """A word of bash without "<": Snakemake's report writes the params of jobs into a script."""
    return shlex.quote(text).replace("<", "'$'\\x3c''")


def pairs(option, texts):
    """An option for each name and text; a function of wildcards, since texts may hold braces."""
    options = " ".join(
        f"{option} {quoted(f'{name}={text}')}" for name, text in texts.items()
    )
    return lambda wildcards: options


LABELS = pairs(
    "--label", {name: EXPERIMENT.method(name).label for name in EXPERIMENT.own_methods}
)
LEFT_OUT = pairs("--left-out", EXPERIMENT.left_out)


def raw_files(wildcards):
    """Inputs of a dataset's preparation: verified raw files, the user's own files, or nothing."""
    block = BLOCKS[wildcards.dataset]
    options = block.row.options
    raw = expand(rules.download.output, dataset=block.base) if block.row.raw else []
    own = ["labels"] if raw else ["path", "labels"]
    return raw + [options[name] for name in own if name in options]


def pretrained_autoencoders(wildcards):
    """The pretrained autoencoders of a cell; nothing for a method without autoencoder."""
    key = EXPERIMENT.pretraining(wildcards.dataset, wildcards.method) or []
    return expand(rules.pretrain.output, dataset=wildcards.dataset, architecture=key)


def cells(datasets, methods=EXPERIMENT.methods):
    """Summaries of the cells of datasets and methods."""
    return expand(rules.cluster.output, dataset=datasets, method=methods)


def cells_of_figure(figure, methods):
    """Summaries of the cells of a figure; nothing if the figure is not drawn."""
    return cells(EXPERIMENT.figures.get(figure, []), methods)


def outputs_of_runs(pattern, datasets):
    """An output for the first run of DEKM and of the user's methods; on own data, of all methods."""
    methods = {
        name: EXPERIMENT.methods if BLOCKS[name].is_own else RUN_METHODS
        for name in datasets
    }
    found = (expand(pattern, dataset=name, method=methods[name]) for name in methods)
    return sum(found, [])


def pretraining_digest(wildcards):
    """Digest of the code that affects the autoencoders of a dataset."""
    settings = EXPERIMENT.pretraining_settings(*wildcards)
    return digest(pretraining_sources(settings.get("network")))


def method_digest(wildcards):
    """Digest of the code that affects the runs of a method."""
    return digest(method_sources(EXPERIMENT.method(wildcards.method).module))


def own_files_digest(wildcards):
    """Digest of the files in a user's folder, of which Snakemake checks only the modification time."""
    path = BLOCKS[wildcards.dataset].row.options.get("path")
    is_folder = path is not None and Path(path).is_dir()
    return files_digest(visible_files(Path(path))) if is_folder else ""


def results_folder(wildcards):
    """Folder of the results; a function, since Snakemake takes a constant for a hard-coded path."""
    return RESULTS


def raw_folder(wildcards):
    """Folder of raw files; a function, since Snakemake would take braces in a constant for wildcards."""
    return MACHINE.raw_dir


def dataset_seeds(wildcards):
    """Seeds of the runs on a dataset."""
    return BLOCKS[wildcards.dataset].seeds


def output_folder(wildcards, output):
    """Folder of the outputs of a rule."""
    return Path(output[0]).parent


def input_folders(wildcards, input):
    """Folders of the inputs of a rule."""
    return [Path(file).parent for file in input]
