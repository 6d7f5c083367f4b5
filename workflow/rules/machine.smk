from dekm.experiment.config import MOST_THREADS
from dekm.experiment.gpus import count_gpus, has_gpu_build
from dekm.experiment.plan import all_cells

# Settings of the machine. They are resources, because a change of params would rerun jobs.

CONTAINER = MACHINE.container or "dekm.sif"
GPUS = 0 if MACHINE.device == "cpu" else 1
FRESH = "--fresh" if MACHINE.fresh else ""
MODULES = f"--modules {shlex.quote(str(CONFIG_FOLDER))}"

# On one machine every job that trains has a GPU of its own. On a cluster its scheduler sees to that.

ON_CLUSTER = workflow.resource_settings.nodes is not None
n_gpus = None

if GPUS and workflow.is_main_process:
    n_gpus = None if ON_CLUSTER else count_gpus(MACHINE.device)
    if n_gpus:
        workflow.global_resources.setdefault("gpu", n_gpus)
    installed_here = not workflow.deployment_settings.deployment_method
    if (n_gpus or ON_CLUSTER) and installed_here and not has_gpu_build():
        logger.warning(
            "The installed PyTorch is built for CPUs only: jobs that are given a GPU will train on the CPU."
            " Install a build for GPUs (https://pytorch.org), or set device: cpu in the configuration."
        )


def threads_of(stage):
    """CPU threads of a job that trains; as many jobs share the cores as there are GPUs, or cells of the stage."""
    if ON_CLUSTER:
        return MACHINE.threads_of(1, MOST_THREADS)
    n_cells = sum(cell["stage"] == stage for cell in all_cells(EXPERIMENT))
    return MACHINE.threads_of(n_gpus or n_cells, workflow.resource_settings.cores or 1)


def mirror_argument(wildcards):
    """The mirror of raw files; a function, since its name may hold braces."""
    return f"--mirror {quoted(MACHINE.mirror)}" if MACHINE.mirror else ""


def growing(first):
    """A resource of which every further attempt of a job gets as much more."""
    return lambda wildcards, attempt: first * attempt


def device_of_method(wildcards):
    """The device of a cell: K-means and PCA+K-means train nothing and leave the GPUs to the others."""
    method = EXPERIMENT.method(wildcards.method)
    trains_nothing = method.is_ours and method.autoencoder is None
    return "cpu" if MACHINE.device == "auto" and trains_nothing else MACHINE.device
