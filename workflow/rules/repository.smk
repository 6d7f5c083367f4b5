import os
import subprocess
import tempfile
from pathlib import Path


def git(folder, *command):
    """What a command of git prints."""
    command = ["git", "-C", str(folder), *command]
    return subprocess.run(command, stdout=-1, text=True, check=True).stdout.strip()


def repository(basedir):
    """Folder of this repository; of a module that Snakemake reads from git, a clone below .snakemake."""
    if not hasattr(basedir, "ref"):
        return Path(basedir).parents[1]
    source = getattr(basedir, "repo_path", None) or basedir.hosted_repo.repo_clone
    commit = git(source, "rev-parse", f"{basedir.ref}^{{commit}}")
    folder = Path(".snakemake", f"dekm-{commit}").absolute()
    if not folder.is_dir():
        folder.parent.mkdir(exist_ok=True)
        kept = {"dir": folder.parent, "ignore_cleanup_errors": True}
        with tempfile.TemporaryDirectory(**kept) as new:
            git(new, "clone", "-q", "-n", Path(source).absolute(), ".")
            git(new, "checkout", "-q", commit)
            os.rename(new, folder)
    return folder


ROOT = repository(workflow.current_basedir)
