"""No password, user or token of an address is shown or kept anywhere."""

import subprocess
import sys
from pathlib import Path

import pytest

from dekm.cli import main
from dekm.datasets.raw.download import RawFile, download_file
from dekm.errors import InputError, find_secret, without_secrets
from dekm.experiment.checks import read_experiment
from dekm.tracking.server import default_store

ROOT = Path(__file__).parents[1]
SECRETS = [
    "http://user:hunter2@host/x",
    "http://user:hunter2@host:8080",
    "https://hunter2@host/x",
    "ftp://:hunter2@host",
    "postgresql://user:hun@ter2@db/mlflow",
    "postgresql+psycopg2://user:hunter2@db",
    "http://user:hunter2/with/slashes@host/x",
    "http://user:hunter2#?&@host/x",
    "http://user:hunter2@[::1]:80/x",
    "docker://user:hunter2@registry/image",
    "https://host/x?token=hunter2",
    "https://host/x?n=1&access_token=hunter2&m=2",
    "https://host/x?X-Amz-Signature=hunter2",
    "https://host/x?sig=hunter2",
    "/x?api_key=hunter2 (Caused by",
    "https://host/x?accessToken=hunter2#top",
]
PLAIN = [
    "http://host:8080/path@v1",
    "http://[::1]:80/@x",
    "http://127.0.0.1:5000/#/experiments/1/runs?viewStateShareKey=scores&workflowType=machine_learning",
    "https://host/file?DOI=10.1&id=7&monkey=1",
    "sqlite:////folder/a:b@c.db",
    "me@example.org, see https://example.org",
    "C:/folder",
]


@pytest.mark.parametrize("address", SECRETS)
def test_a_secret_is_replaced_in_any_text(address: str) -> None:
    for text in (address, f"{address}: refused", f"'{address}'", f'of ({address}), "{address}"'):
        shown = without_secrets(text)
        assert "hun" not in shown
        assert "ter2" not in shown
        assert "***" in shown
        assert str(InputError(text)) == shown
    assert find_secret("mirror", address).startswith("mirror should hold no user, password or token")


@pytest.mark.parametrize("text", PLAIN)
def test_everything_else_stays(text: str) -> None:
    assert without_secrets(text) == text
    assert find_secret("mirror", text) == ""


@pytest.mark.parametrize("key", ["mirror", "container"])
def test_the_configuration_takes_no_address_with_a_secret(key: str) -> None:
    config = {"name": "a", "seeds": [0], "datasets": {"digits": None}, "methods": {"k_means": None}}
    with pytest.raises(InputError, match=f"{key} should hold no user, password or token") as error:
        read_experiment(config | {key: SECRETS[0]}, ROOT / "config/config.schema.yaml")
    assert "hunter2" not in str(error.value)


def test_a_failed_download_tells_no_secret(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    address = "http://user:hunter2@127.0.0.1:9/x?token=hunter2"
    file = RawFile("x", (address,), sha256="0" * 64, max_bytes=10)
    with pytest.raises(InputError, match="x could not be downloaded") as error:
        download_file(file, tmp_path, attempts=2, wait=0.0)
    assert "Getting http://***@127.0.0.1:9/x" in caplog.text
    assert "hunter2" not in caplog.text + str(error.value)


def test_the_command_line_takes_no_mirror_with_a_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    arguments = ["--raw-dir", str(tmp_path), "--mirror", SECRETS[0], "--out", str(tmp_path / "out.json")]
    assert main(["download", "mnist", *arguments]) == 1
    shown = capsys.readouterr()
    assert "mirror should hold no user" in shown.err
    assert "hunter2" not in shown.err + shown.out


def test_the_variable_of_another_program_is_told_without_its_secret(monkeypatch, caplog) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "postgresql://user:hunter2@db")
    assert default_store(Path("results")) == "results"
    assert "postgresql://***@db is not the address of a server" in caplog.text
    assert "hunter2" not in caplog.text


def test_logs_warnings_and_tracebacks_have_no_secret_and_no_control_character() -> None:
    code = """
import logging, sys, warnings
from dekm import cli
cli._configure_output()
logging.getLogger("dekm.x").info("at %s \x1b[2J", sys.argv[1])
warnings.warn(f"at {sys.argv[1]}")
raise RuntimeError(f"at {sys.argv[1]}")
"""
    done = subprocess.run([sys.executable, "-c", code, SECRETS[0]], capture_output=True, text=True)
    assert done.stderr.count("at http://***@host/x") == 3
    assert "hunter2" not in done.stderr
    assert "\x1b" not in done.stderr
    assert "Traceback" in done.stderr
