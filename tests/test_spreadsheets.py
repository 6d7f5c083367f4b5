import io

import pandas as pd
import pytest

from dekm.spreadsheets import cell, to_csv


@pytest.mark.parametrize("text", ["=cmd", "=1+1", "+cmd|x", "-cmd", "@SUM(A1)", "\t=1", "\r=1", "=-1"])
def test_a_formula_becomes_text(text):
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize("value", ["", "a=b", "-1.5", "+2", "-inf", "1e-3", 5, -5.0, None, "MNIST"])
def test_everything_else_stays_as_it_is(value):
    assert cell(value) is value


def test_a_frame_keeps_its_numbers_and_gaps():
    frame = pd.DataFrame({"a": ["=x", None, "y"], "b": [-0.123456, 2.0, float("nan")], "c": [1, 2, 3]})
    frame["d"] = frame["c"].astype("Int64")
    assert to_csv(frame, "%.2f") == "a,b,c,d\n'=x,-0.12,1,1\n,2.00,2,2\ny,,3,3\n"
    plain = frame.assign(a=["x", None, "y"])
    assert pd.read_csv(io.StringIO(to_csv(plain, "%.6f")))["a"].tolist()[::2] == ["x", "y"]
