from pathlib import Path

from tests.faults.campaign_inputs import lengthen_configurations, mutate_configurations


def test_a_changed_configuration_is_refused_in_plain_lines_or_usable(tmp_path: Path) -> None:
    failed = [f"{case}: {problem}" for case, problem in mutate_configurations(tmp_path, 200, 0) if problem]
    assert not failed, "\n".join(failed)


def test_a_long_text_at_any_place_is_not_repeated_in_full(tmp_path: Path) -> None:
    failed = [f"{case}: {problem}" for case, problem in lengthen_configurations(tmp_path) if problem]
    assert not failed, "\n".join(failed)
