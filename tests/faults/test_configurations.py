import time
from pathlib import Path

from tests.faults.campaign_inputs import mutate_configurations


def test_a_changed_configuration_is_refused_in_plain_lines_or_usable(tmp_path: Path) -> None:
    seed = int(time.time())
    failed = [f"{case}: {problem}" for case, problem in mutate_configurations(tmp_path, 200, seed) if problem]
    assert not failed, f"seed {seed}:\n" + "\n".join(failed)
