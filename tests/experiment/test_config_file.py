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
        ('{"a": 1, "a": 2}', "'a' is there twice"),
        ("{'a': {b: 1, b: 2}}", "'b' is already in line 1"),
        ("? [1, 2]\n: 3", "line 1: the key a list or block should be text"),
        ("a: 1\nb:\n  no: {}", "line 3: the key 'no' should be text, which is quoted"),
        ("methods: {on: {}}", "the key 'on' should be text"),
        ("datasets: {2024: {}}", "the key '2024' should be text"),
        ("datasets: {~: {}}", "the key '~' should be text"),
        ("a: {<<: {x: 1}, <<: {y: 1}}", "'<<' is already in line 1"),
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


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0100", "64"),
        ("010", "8"),
        ("-010", "-8"),
        ("0b101", "5"),
        ("1_000", "1000"),
        ("0x_1F", "31"),
        ("1:30", "90"),
        ("-1:30", "-90"),
        ("1:30.5", "90.5"),
        ("1_0.0_1", "10.01"),
        ("!!int '010'", "8"),
        ("!!float 1:30", "90.0"),
    ],
)
@pytest.mark.parametrize("place", ["a: {}", "a: [1, {}]", "a: {{b: {}}}"])
def test_a_number_that_is_another_one_in_yaml_1_1_is_refused(
    text: str, value: str, place: str, tmp_path: Path
) -> None:
    file = tmp_path / "my.yaml"
    file.write_text(f"name: x\n{place.format(text)}", encoding="utf-8")
    with pytest.raises(InputError, match=rf"my\.yaml .*line 2: .* is {value} in YAML 1\.1") as error:
        read_config_file(file)
    assert str(error.value).count("\n") == 0


@pytest.mark.parametrize("text", ["2024-01-01", "2024-01-01T10:00:00Z", "!!timestamp 2024-01-01", "="])
def test_a_date_is_no_text(text: str, tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text(f"label: {text}", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 1: .* should be a number, or text, which is quoted"):
        read_config_file(tmp_path / "my.yaml")


def test_plain_numbers_and_quoted_text_are_what_they_look_like(tmp_path: Path) -> None:
    text = (
        "[0, 7, -12, +3, 0x1F, 1.5, .5, 1., -0.25, 1.0e-3, 00.5, '010', \"1:30\", 0o17, 08, .inf, true, null]"
    )
    (tmp_path / "my.yaml").write_text(f"a: {text}", encoding="utf-8")
    values = [0, 7, -12, 3, 31, 1.5, 0.5, 1.0, -0.25, 0.001, 0.5, "010", "1:30", "0o17", "08"]
    assert read_config_file(tmp_path / "my.yaml") == {"a": [*values, float("inf"), True, None]}


def test_a_file_in_json_may_be_indented_by_tabs(tmp_path: Path) -> None:
    (tmp_path / "my.json").write_text('{\n\t"name": "x",\n\t"lr": 1e-3\n}', encoding="utf-8")
    assert read_config_file(tmp_path / "my.json") == {"name": "x", "lr": 0.001}


def test_a_file_in_another_encoding_is_named(tmp_path) -> None:
    (tmp_path / "my.yaml").write_bytes("name: \xe9".encode("latin-1"))
    with pytest.raises(InputError, match=r"my\.yaml is not a readable configuration"):
        read_config_file(tmp_path / "my.yaml")


def test_merged_keys_may_be_overridden(tmp_path) -> None:
    (tmp_path / "my.yaml").write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}", encoding="utf-8")
    assert read_config_file(tmp_path / "my.yaml")["b"] == {"x": 3, "y": 2}


def test_merged_keys_may_be_merged_again_above_the_block_that_merged_them(tmp_path) -> None:
    text = "a: &a {lr: 1, tol: 2}\nb: {c: &c {<<: *a, lr: 3}}\nd: {<<: *c, tol: 4}\ne: {<<: [*a, *c]}"
    (tmp_path / "my.yaml").write_text(text, encoding="utf-8")
    read = read_config_file(tmp_path / "my.yaml")
    assert read["d"] == {"lr": 3, "tol": 4}
    assert read["e"]["tol"] == 2


def test_shared_blocks_count_as_often_as_they_are_used() -> None:
    shared = [0] * 1000
    check_values({"a": [shared] * 90})
    with pytest.raises(InputError, match="100000 values"):
        check_values({"a": [shared] * 110})


def test_a_configuration_without_a_name_has_no_folder(tmp_path, capsys) -> None:
    (tmp_path / "my.yaml").write_text("name: 3", encoding="utf-8")
    assert main(["config", str(tmp_path / "my.yaml")]) == 1
    assert "its key 'name' should be text" in capsys.readouterr().err
