"""Configuration files that Snakemake reads without complaint, or never returns from."""

from pathlib import Path

import pytest

from dekm.cli import main
from dekm.errors import InputError
from dekm.experiment.config_file import check_values, read_config_file

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.usefixtures("restored_logging")


def bomb(block: str) -> str:
    """Nine levels of nine aliases each; `block` is the form of a level."""
    lines = ["a0: &a0 [1, 2, 3]"]
    for level in range(1, 10):
        members = (f"k{i}: *a{level - 1}" if block == "{}" else f"*a{level - 1}" for i in range(9))
        lines.append(f"a{level}: &a{level} {block[0]}{', '.join(members)}{block[1]}")
    return "\n".join(lines)


@pytest.mark.parametrize("name", ["config.yaml", "demo.yaml"])
def test_the_configurations_of_the_project_are_read(name: str, capsys) -> None:
    assert read_config_file(ROOT / "config" / name)["seeds"] == [0, 1, 2]
    assert main(["config", str(ROOT / "config" / name)]) == 0
    assert capsys.readouterr().out.startswith("results/")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: 1\nb: 2\na: 3", "line 3: 'a' is already in line 1"),
        ("a: {b: 1, c: 2, b: 3}", "line 1: 'b' is already in line 1"),
        ("methods:\n  dekm: {}\n  dec: {}\n  dekm: {lr: 1}", "line 4: 'dekm' is already in line 2"),
        ('{"a": 1, "a": 2}', "'a' is already"),
        ("? [1, 2]\n: 3", "a key should be text"),
        ("- a\n- b", "should be a block of settings"),
        ("", "should be a block of settings"),
        ("a: b: c", "mapping values are not allowed"),
        ("a: [1, 2", "not a readable configuration"),
        ("\ta: 1", "not a readable configuration"),
        ("a: *b", "undefined alias"),
        ("a: !!python/name:os.system x", "could not determine a constructor"),
        ("a: !!timestamp x", "not a readable configuration"),
        (f"a: {'9' * 5000}", "4300 digits"),
        ("a: " + "[" * 1100, "recursion"),
        ("a: " + "[" * 60 + "]" * 60, "50 levels"),
        ("a: &a [*a]", "50 levels"),
        (bomb("[]"), "at most 100000 values"),
        (bomb("{}"), "at most 100000 values"),
    ],
)
def test_a_file_that_is_no_plain_configuration_is_one_error(text: str, reason: str, tmp_path, capsys) -> None:
    file = tmp_path / "my.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=reason):
        read_config_file(file)
    assert main(["config", str(file)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_file_in_another_encoding_is_named(tmp_path) -> None:
    (tmp_path / "my.yaml").write_bytes("name: \xe9".encode("latin-1"))
    with pytest.raises(InputError, match=r"my\.yaml is not a readable configuration"):
        read_config_file(tmp_path / "my.yaml")


def test_merged_keys_may_be_overridden(tmp_path) -> None:
    (tmp_path / "my.yaml").write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}", encoding="utf-8")
    assert read_config_file(tmp_path / "my.yaml")["b"] == {"x": 3, "y": 2}


def test_shared_blocks_count_as_often_as_they_are_used() -> None:
    shared = [0] * 1000
    check_values({"a": [shared] * 90})
    with pytest.raises(InputError, match="100000 values"):
        check_values({"a": [shared] * 110})


def test_a_configuration_without_a_name_has_no_folder(tmp_path, capsys) -> None:
    (tmp_path / "my.yaml").write_text("name: 3", encoding="utf-8")
    assert main(["config", str(tmp_path / "my.yaml")]) == 1
    assert "its key 'name' should be text" in capsys.readouterr().err
