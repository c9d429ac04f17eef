"""What a fit published comes back bit by bit."""

import json

import numpy as np
import pytest

from letalone.errors import FormatError
from letalone.learn.stored import from_json, to_json

MODEL = {
    "coef_": np.array([[0.1, -0.0, 5e-324], [1e308, np.pi, 2.0]]),
    "classes_": np.array(["no", "yes"]),
    "n_features_in_": 3,
    "count_": np.array([1, 2**60]),
    "flag_": True,
    "share_": 0.1,
    "none_": None,
    "tree_": {"feature": np.array([True, False]), "parts": (1.5, "a", [2])},
}


def test_everything_comes_back_as_it_was() -> None:
    found = from_json(json.loads(json.dumps(to_json(MODEL))))
    assert found.keys() == MODEL.keys()
    assert found["coef_"].tobytes() == MODEL["coef_"].tobytes()  # pyright: ignore
    assert found["classes_"].tolist() == ["no", "yes"]  # pyright: ignore
    assert found["count_"].tolist() == [1, 2**60]  # pyright: ignore
    assert (found["flag_"], found["share_"], found["none_"]) == (True, 0.1, None)
    assert found["tree_"]["parts"] == (1.5, "a", (2,))  # pyright: ignore


def test_there_are_no_floats_in_it() -> None:
    def walk(value: object) -> None:
        assert not isinstance(value, float)
        for one in (
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        ):
            walk(one)

    walk(to_json(MODEL))


def test_what_is_neither_text_nor_numbers_is_refused() -> None:
    with pytest.raises(FormatError, match="holds set"):
        to_json({"x_": {1}})
    with pytest.raises(FormatError, match="neither"):
        from_json({"x_": {"pickle": "..."}})
