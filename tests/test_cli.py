import os
import signal
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import dekm
from dekm import cli
from dekm.cli import main
from dekm.cli.arguments import parse_settings
from dekm.errors import InputError
from dekm.files import read_json

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.usefixtures("restored_logging")


@pytest.fixture
def results(tmp_path):
    """A folder of results with 100 prepared digits."""
    folders = ["--results", str(tmp_path), "--raw-dir", str(tmp_path / "raw")]
    assert main(["prepare", "digits", *folders, "--subsample", "100"]) == 0
    return tmp_path


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory):
    """A folder of results with 100 prepared digits, for commands that write nothing."""
    folder = tmp_path_factory.mktemp("results")
    raw = str(folder / "raw")
    assert main(["prepare", "digits", "--results", str(folder), "--raw-dir", raw, "--subsample", "100"]) == 0
    return folder


def cluster(results, *arguments):
    return [
        "cluster",
        "digits",
        "k_means",
        "--results",
        str(results),
        "--seeds",
        "0",
        "--device",
        "cpu",
        *arguments,
    ]


def error_of(arguments, capsys):
    """Standard error of a command that must fail with an error of the user."""
    capsys.readouterr()
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith("dekm: error: ")
    assert "Traceback" not in error
    return error


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"dekm {dekm.__version__}\n"


def test_settings_are_json_or_strings():
    pairs = [
        "n_init=3",
        "tol=1e-3",
        "space=H",
        "hidden=[32, 16]",
        "flag=true",
        "none=null",
        "text=a=b",
        'quoted="5"',
    ]
    assert parse_settings(pairs) == {
        "n_init": 3,
        "tol": 1e-3,
        "space": "H",
        "hidden": [32, 16],
        "flag": True,
        "none": None,
        "text": "a=b",
        "quoted": "5",
    }
    assert parse_settings([]) == {}


@pytest.mark.parametrize("pair", ["n_init", "", "=3"])
def test_a_setting_without_name_or_value_raises(pair):
    with pytest.raises(InputError, match=f"--set '{pair}' should be NAME=VALUE"):
        parse_settings([pair])


def settings_file(folder, text):
    (folder / "settings.json").write_text(text, encoding="utf-8")
    return ["--settings", str(folder / "settings.json")]


def test_a_file_of_settings_is_as_good_as_options(results):
    assert main(cluster(results, "--set", "n_init=2")) == 0
    facts = read_json(results / "runs/digits/k_means/seed0/facts.json")
    given = settings_file(results, '{"settings": {"n_init": 2}, "definition": null, "pretrained": null}')
    assert main(cluster(results, *given)) == 0
    assert read_json(results / "runs/digits/k_means/seed0/facts.json") == facts
    assert main(cluster(results, *given, "--set", "n_init=1")) == 0
    assert read_json(results / "runs/digits/k_means/seed0/facts.json")["settings"] == {"n_init": 1}


def test_a_file_of_settings_has_other_options_too_but_the_command_line_counts(tmp_path):
    given = settings_file(tmp_path, '{"settings": {}, "subsample": 50, "n_classes": 2}')
    command = ["prepare", "digits", "--results", str(tmp_path), "--raw-dir", str(tmp_path / "raw"), *given]
    assert main(command) == 0
    facts = read_json(tmp_path / "data/digits/facts.json")
    assert (facts["subsample"], facts["n_classes"]) == (50, 2)
    assert main([*command, "--subsample", "40"]) == 0
    assert read_json(tmp_path / "data/digits/facts.json")["subsample"] == 40


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"settings": {"n_init": 2, "n_init": 3}}', "'n_init' is there twice"),
        ('{"n_init": 2}', "it lacks 'settings'"),
        ('{"settings": [2]}', "should be an object"),
        ('{"settings": {}, "subsample": 50}', "subsample: unknown name"),
        ('{"settings": {}, "setings": {}}', "did you mean 'settings'?"),
        ('{"settings": {}, "network": 3}', "network='3' should be text"),
        ('{"settings": {"n_innit": 2}}', "did you mean 'n_init'?"),
        ("settings", "is not a readable JSON file"),
    ],
)
def test_a_file_of_settings_with_a_mistake_is_a_user_error(text, reason, unchanged, tmp_path, capsys):
    assert reason in error_of(cluster(unchanged, *settings_file(tmp_path, text)), capsys)


def test_a_file_of_settings_that_does_not_exist_is_a_user_error(unchanged, capsys):
    assert "x.json does not exist" in error_of(cluster(unchanged, "--settings", "x.json"), capsys)


def test_data_are_prepared_and_clustered(results):
    assert main(cluster(results, "--set", "n_init=2")) == 0
    facts = read_json(results / "runs/digits/k_means/seed0/facts.json")
    assert facts["settings"] == {"n_init": 2}
    assert read_json(results / "data/digits/facts.json")["subsample"] == 100


def test_pretraining_and_dekm_run_from_the_command_line(results):
    common = ["--results", str(results), "--seeds", "0", "1", "--device", "cpu"]
    small = ["--set", "channels=[4, 8, 8]", "--set", "n_epochs=2"]
    assert main(["pretrain", "digits", "conv", *common, *small]) == 0
    limits = ["--set", "max_iter=1", "--set", "tol=1.0", "--set", "n_init=2", "--set", "n_batches=2"]
    assert main(["cluster", "digits", "dekm", *common, *limits]) == 0
    assert set(read_json(results / "runs/digits/dekm/summary.json")["seeds"]) == {"0", "1"}


def test_a_dataset_without_raw_files_has_nothing_to_download(tmp_path):
    arguments = [
        "download",
        "digits",
        "--raw-dir",
        str(tmp_path / "raw"),
        "--out",
        str(tmp_path / "files.json"),
    ]
    assert main(arguments) == 0
    assert read_json(tmp_path / "files.json") == {}


def test_a_user_error_is_one_line_on_standard_error_without_traceback(results):
    command = [sys.executable, "-m", "dekm", *cluster(results, "--set", "n_clusters")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, capture_output=True, text=True, cwd=results, env=environment)
    assert run.returncode == 1
    assert run.stderr == "dekm: error: --set 'n_clusters' should be NAME=VALUE.\n"
    assert run.stdout == ""


def test_missing_pretraining_is_a_user_error(results, capsys):
    arguments = ["cluster", "digits", "dekm", "--results", str(results), "--seeds", "0"]
    assert "pretrain digits conv" in error_of(arguments, capsys)


def test_an_invalid_raw_file_is_a_user_error(tmp_path, capsys):
    (tmp_path / "mnist").mkdir()
    file = tmp_path / "mnist/train-images-idx3-ubyte.gz"
    file.write_bytes(b"<html>")
    arguments = ["download", "mnist", "--raw-dir", str(tmp_path), "--out", str(tmp_path / "files.json")]
    assert str(file) in error_of(arguments, capsys)
    assert not (tmp_path / "files.json").exists()


def test_raw_files_that_were_not_downloaded_are_a_user_error(tmp_path, capsys):
    arguments = ["prepare", "mnist", "--results", str(tmp_path), "--raw-dir", str(tmp_path / "raw")]
    assert "train-images-idx3-ubyte.gz" in error_of(arguments, capsys)


def test_a_subsample_of_invalid_size_is_a_user_error(tmp_path, capsys):
    folders = ["--results", str(tmp_path), "--raw-dir", str(tmp_path)]
    assert "subsample=5 " in error_of(["prepare", "digits", *folders, "--subsample", "5"], capsys)
    assert not (tmp_path / "data").exists()


def test_data_that_were_not_prepared_are_a_user_error(tmp_path, capsys):
    assert "digits" in error_of(cluster(tmp_path), capsys)


@pytest.mark.parametrize("setting", ["n_innit=3", "n_init=0", "n_clusters=3", "random_state=1"])
def test_a_setting_that_the_method_does_not_accept_is_a_user_error(setting, results, capsys):
    assert setting.partition("=")[0] in error_of(cluster(results, "--set", setting), capsys)


def test_an_unknown_device_is_a_user_error(results, capsys):
    assert "device='gpu'" in error_of(cluster(results, "--device", "gpu"), capsys)


@pytest.mark.parametrize(
    "arguments",
    [[], ["cluster"], ["train", "digits"], ["cluster", "digits", "spectral"], ["download", "nothing"]],
)
def test_invalid_arguments_print_the_usage(arguments, capsys):
    with pytest.raises(SystemExit) as status:
        main(arguments)
    assert status.value.code == 2
    assert "usage: dekm" in capsys.readouterr().err


def test_a_malformed_reason_for_leaving_data_out_is_named(tmp_path, capsys):
    paper = ROOT / "resources/paper/table2.csv"
    arguments = [
        "--results",
        str(tmp_path),
        "--datasets",
        "frgc",
        "--paper",
        str(paper),
        "--out",
        str(tmp_path),
    ]
    assert main(["table2", *arguments, "--left-out", "frgc"]) == 1
    assert "--left-out 'frgc' should be DATASET=REASON." in capsys.readouterr().err


def test_leaving_data_out_writes_nothing_but_the_table(tmp_path):
    paper = ROOT / "resources/paper/table2.csv"
    arguments = ["--datasets", "frgc", "--paper", str(paper), "--out", str(tmp_path / "tables")]
    left_out = ["--left-out", "frgc=null", "--left-out", "../../x=1"]
    assert main(["table2", "--results", str(tmp_path / "results"), *arguments, *left_out]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["tables"]
    assert "skipped: null" in (tmp_path / "tables/table2.md").read_text()


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError(28, "No space left on device"), "No space left on device."),
        (OSError(13, "Permission denied", "a.txt"), "a.txt: Permission denied."),
        (MemoryError(), "not enough memory (MemoryError); finished seeds stay."),
        (RuntimeError("could not create a primitive"), "not enough memory (could not create a primitive)"),
        (
            ModuleNotFoundError("No module named 'pandas'", name="pandas"),
            "this command needs the package pandas: pip install 'dekm[workflow]'.",
        ),
    ],
)
def test_what_the_machine_lacks_is_one_line(error, text, monkeypatch, capsys):
    def missing(**arguments):
        raise error

    monkeypatch.setattr("dekm.cli.commands.missing", missing)
    assert main(["missing", "mnist", "--raw-dir", "raw"]) == 1
    assert f"dekm: error: {text}" in capsys.readouterr().err


def test_the_packages_that_commands_may_lack_are_those_of_the_workflow():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    workflow = {Requirement(line).name for line in extras["workflow"]}
    assert {name.lower() for name in cli.WORKFLOW} <= workflow


def test_an_experiment_without_a_clone_is_refused_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("dekm.cli.outputs.SCHEMA", tmp_path / "config.schema.yaml")
    (tmp_path / "my.yaml").write_text("name: mine\n")
    for command in (["estimate", "my.yaml"], ["choose-k", "my.yaml", "--k", "2-3"]):
        command[1] = str(tmp_path / command[1])
        assert "experiments need a clone of the project" in error_of(command, capsys)


def test_a_defect_of_the_program_has_a_traceback(monkeypatch):
    def missing(**arguments):
        raise RuntimeError("a defect")

    monkeypatch.setattr("dekm.cli.commands.missing", missing)
    with pytest.raises(RuntimeError, match="a defect"):
        main(["missing", "mnist", "--raw-dir", "raw"])


def run_process(*arguments, **options):
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | options.pop("env", {})
    command = [sys.executable, "-m", "dekm", *arguments]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, **options)


def test_ctrl_c_is_one_line_and_exit_status_130(tmp_path):
    os.mkfifo(tmp_path / "my.yaml")
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a job of a script may ignore Ctrl-C
    process = run_process("config", str(tmp_path / "my.yaml"), preexec_fn=heed)
    with (tmp_path / "my.yaml").open("w", encoding="utf-8"):  # returns when the command has begun to read
        process.send_signal(signal.SIGINT)
        error = process.communicate()[1]
    assert process.returncode == 130
    assert error == "dekm: interrupted. What is complete is kept; the same command continues from there.\n"


def test_a_reader_that_ends_is_no_error(tmp_path):
    process = run_process("missing", "mnist", "--raw-dir", str(tmp_path), stdout=subprocess.PIPE)
    process.stdout.close()
    assert process.communicate()[1] == ""
    assert process.returncode == 141


def test_output_that_cannot_be_written_is_one_line(tmp_path):
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        process = run_process("missing", "mnist", "--raw-dir", str(tmp_path), stdout=full)
    assert process.communicate()[1] == "dekm: error: No space left on device.\n"
    assert process.returncode == 1


def test_output_does_not_depend_on_the_locale(tmp_path):
    folder = os.fsencode(tmp_path) + b"/\xe9\xe2\x89\x88"
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "latin-1"}
    process = run_process("missing", "mnist", "--raw-dir", folder, stdout=subprocess.PIPE, env=locale)
    output, error = process.communicate()
    assert error == ""
    assert "train-images" in output


@pytest.mark.parametrize(
    "name", ["../../x", "/abs", "..", ".", "", "a/b", "x\n", "a" * 101, "a b", ".hidden"]
)
def test_a_name_cannot_lead_out_of_the_results(name, tmp_path, capsys):
    folders = ["--results", str(tmp_path / "results"), "--raw-dir", str(tmp_path)]
    if name:
        assert "should be a name" in error_of(["prepare", "digits", "--name", name, *folders], capsys)
    for command in (["cluster", name, "k_means"], ["pretrain", name, "conv"]):
        arguments = [*command, "--results", str(tmp_path / "results"), "--seeds", "0"]
        assert "should be a name" in error_of(arguments, capsys)
    paper = str(ROOT / "resources/paper/table2.csv")
    arguments = [
        "--results",
        str(tmp_path),
        "--datasets",
        name,
        "--paper",
        paper,
        "--out",
        str(tmp_path / "out"),
    ]
    assert "should be a name" in error_of(["table2", *arguments], capsys)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("seed", ["-1", str(2**32), str(2**40), str(10**30)])
def test_a_seed_that_no_generator_accepts_is_named(seed, unchanged, capsys):
    for command in (["cluster", "digits", "k_means"], ["pretrain", "digits", "conv"]):
        arguments = [*command, "--results", str(unchanged), "--device", "cpu", "--seeds", "0", seed]
        assert f"seed={seed} should be an integer from 0 to 4294967295." in error_of(arguments, capsys)


@pytest.mark.parametrize(
    "setting",
    [
        "NaN",
        "Infinity",
        "1e400",
        "5.0",
        f"{10**30}",
        "9" * 5000,
        "[" * 5000,
        "[1]",
        "{}",
        "null",
        "\udce9",
        "",
    ],
)
def test_a_value_that_is_no_setting_is_one_line(setting, unchanged, capsys):
    error = error_of(cluster(unchanged, "--set", f"n_init={setting}"), capsys)
    assert error.count("\n") == 1
    assert len(error) < 500


@pytest.mark.parametrize(
    "setting", ["embedding_dim=1000000000000", "hidden=[1000000000000]", "channels=[1,2,-3]"]
)
def test_a_network_that_cannot_exist_is_named(setting, unchanged, capsys):
    arguments = ["pretrain", "digits", "conv", "--results", str(unchanged), "--seeds", "0", "--device", "cpu"]
    assert setting.partition("=")[0] in error_of([*arguments, "--set", setting], capsys)
