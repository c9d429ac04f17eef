"""What `anonymize` returns has k, l and t, measured in plain Python, and no row was changed."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymity import brute
from letalone.anonymity import Prefixes, anonymize, anonymizing
from letalone.errors import ParameterError
from letalone.sample.hospital import visits

NAN = float("nan")
ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, NAN, 1.0, 2.0, 3.0, 50.0]),
        st.sampled_from(["021", "022", "100", None]),
        st.sampled_from(["a", "b", "c"]),
    ),
    min_size=6,
    max_size=60,
)


def as_table(rows: list[tuple[Any, ...]]) -> pa.Table:
    age, zips, ill = zip(*rows, strict=True)
    return pa.table(
        {"age": pa.array(age, pa.float64(), from_pandas=False), "zip": zips, "ill": ill}
    )


def groups_of(table: pa.Table, names: tuple[str, ...] = ("age", "zip")) -> list[Counter[Any]]:
    rows = [tuple(row[name] for name in (*names, "ill")) for row in table.to_pylist()]
    return brute.groups_of(rows, len(names))


@pytest.mark.long
@settings(max_examples=15)
@given(
    ROWS,
    st.integers(1, 6),
    st.sampled_from([None, 1, 2]),
    st.sampled_from([None, 0, 0.2, 0.5]),
    st.sampled_from([0, 0.1, 0.5]),
)
def test_a2_the_result_is_as_asked_and_loses_no_more_rows_than_allowed(
    rows: list[tuple[Any, ...]], k: int, values: int | None, t: float | None, share: float
) -> None:
    if values is not None and len({row[-1] for row in rows}) < values:
        return
    made = anonymize(
        as_table(rows),
        quasi_identifiers=["age", "zip"],
        sensitive=["ill"],
        k=k,
        l=values,
        t=t,
        hierarchies={"zip": Prefixes()},
        max_suppressed=share,
    )
    groups = groups_of(made.as_arrow)
    assert brute.k_of(groups) >= k
    assert values is None or brute.l_of(groups) >= values
    assert t is None or float(brute.t_of(groups)) <= t
    assert made.suppressed == len(rows) - made.as_arrow.num_rows <= share * len(rows)
    before, after = Counter(row[-1] for row in rows), Counter(made.as_arrow["ill"].to_pylist())
    assert not after - before
    assert 0 <= made.information_lost <= 1


def test_a_rival_releases_a_t_of_one_half_where_a_twentieth_was_asked() -> None:
    """anonypy asked for t = 0.05 releases 0.50."""
    random = np.random.default_rng(4)
    rows = [
        (float(random.integers(20, 80)), "021", str(random.choice(list("abc")))) for _ in "x" * 400
    ]
    made = anonymize(
        as_table(rows), quasi_identifiers=["age", "zip"], sensitive=["ill"], k=2, t=0.05
    )
    assert float(brute.t_of(groups_of(made.as_arrow))) <= 0.05
    loose = anonymize(as_table(rows), quasi_identifiers=["age", "zip"], sensitive=["ill"], k=2)
    assert float(brute.t_of(groups_of(loose.as_arrow))) > 0.3, "the data would not show it"


def value_is_in(label: str, age: int) -> bool:
    first, _, last = label.partition("–")
    return label == "*" or int(first) <= age <= int(last or first)


def test_each_label_holds_the_value_that_it_stands_for() -> None:
    """Each row has its own sensitive value here, so that rows can be followed."""
    ages = [int(age) for age in np.random.default_rng(5).integers(18, 90, 300)]
    frame = pa.table({"age": ages, "who": list(range(300))})
    made = anonymize(frame, quasi_identifiers=["age"], sensitive=["who"], k=4)
    rows = made.as_arrow.to_pylist()
    assert all(value_is_in(row["age"], ages[row["who"]]) for row in rows)
    assert len({row["age"] for row in rows}) > 20, "everything in one group would pass, too"


def test_frames_come_back_in_their_kind_and_files_as_arrow(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [30, 31, 50, 51], "ill": list("abab"), "name": list("wxyz")})
    frame.to_csv(tmp_path / "t.csv", index=False)
    asked: dict[str, Any] = {"quasi_identifiers": "age", "sensitive": "ill", "k": 2}
    kinds = {pd.DataFrame: frame, pl.DataFrame: pl.from_pandas(frame), pa.Table: tmp_path / "t.csv"}
    for kind, source in kinds.items():
        made = anonymize(source, **asked)
        assert isinstance(made.table, kind)
        assert made.dropped == ("name",)
        assert made.as_arrow.to_pylist() == [
            {"age": "30–31", "ill": "a"},
            {"age": "30–31", "ill": "b"},
            {"age": "50–51", "ill": "a"},
            {"age": "50–51", "ill": "b"},
        ]


def test_names_that_can_be_read_once_are_read_once() -> None:
    frame = pa.table({"age": [1, 1], "ill": ["a", "b"]})
    made = anonymize(frame, quasi_identifiers=iter(["age"]), sensitive=iter(["ill"]), k=2, l=2)
    assert made.as_arrow.column_names == ["age", "ill"]


def test_the_order_of_the_rows_tells_nothing() -> None:
    frame = pa.table({"age": [30, 31, 30, 31] * 9, "ill": list("abca") * 9})
    mixed = frame.take(np.random.default_rng(6).permutation(36))
    one, other = (
        anonymize(some, quasi_identifiers=["age"], sensitive=["ill"], k=3).as_arrow.to_pylist()
        for some in (frame, mixed)
    )
    assert one == other == sorted(one, key=lambda row: (row["age"], row["ill"]))


def test_few_rows_that_lie_apart_are_left_out_only_where_that_is_allowed() -> None:
    """Two ZIP codes far away keep all others from being told apart."""
    zips = ["02138"] * 40 + ["99999"] * 2
    frame = pa.table({"zip": zips, "ill": ["a", "b"] * 21})
    asked: dict[str, Any] = {"quasi_identifiers": ["zip"], "sensitive": ["ill"], "k": 5}
    kept = anonymize(frame, **asked, hierarchies={"zip": Prefixes()}, max_suppressed=0)
    assert (kept.suppressed, set(kept.as_arrow["zip"].to_pylist())) == (0, {"*"})
    left = anonymize(frame, **asked, hierarchies={"zip": Prefixes()}, max_suppressed=0.05)
    assert (left.suppressed, set(left.as_arrow["zip"].to_pylist())) == (2, {"02138"})


def test_a_partition_that_does_not_hold_loses_groups_until_it_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The check is of the table itself: a wrong partition is found out."""
    frame = pa.table({"age": [30, 30, 30, 30, 30, 30, 90], "ill": list("abababa")})
    asked: dict[str, Any] = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "k": 3}
    right = anonymizing.partition

    def wrong(cut: Any, promise: Any, *, allowance: int = 0) -> Any:
        return cut.codes[0] if allowance else right(cut, promise)

    monkeypatch.setattr(anonymizing, "partition", wrong)
    made = anonymize(frame, **asked, max_suppressed=0.2)
    assert (made.suppressed, made.anonymity.k) == (1, 6)
    made = anonymize(frame, **asked, max_suppressed=0.1)
    assert (made.suppressed, made.anonymity.k) == (0, 7)
    monkeypatch.setattr(anonymizing, "partition", lambda cut, *_, **__: cut.codes[0])
    made = anonymize(frame, **asked, max_suppressed=0)
    assert (made.anonymity.groups, made.anonymity.k) == (1, 7), "all in one part is the last try"
    monkeypatch.setattr(anonymizing, "_keeps", lambda *_: False)
    with pytest.raises(ParameterError, match="No table was found"):
        anonymize(frame, **asked, max_suppressed=0)


def test_missing_values_are_named_in_the_label() -> None:
    cells = [None, None, 30.0, NAN, 31.0, 31.0, 40.0, 40.0]
    frame = pa.table({"age": pa.array(cells, pa.float64(), from_pandas=False)})
    made = anonymize(frame, quasi_identifiers=["age"], k=2, max_suppressed=0)
    labels = Counter(made.as_arrow["age"].to_pylist())
    assert labels == {"missing": 2, "NaN or 30": 2, "31": 2, "40": 2}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"k": 0}, "k is 0"),
        ({"k": 2.5}, "k is 2.5"),
        ({"k": 100}, "fewer rows"),
        ({"k": 2, "l": 5}, "fewer values"),
        ({"k": 2, "t": 1.5}, "t is 1.5"),
        ({"k": 2, "l": 2, "sensitive": []}, "no sensitive column"),
        ({"k": 2, "hierarchies": {"zap": Prefixes()}}, "'zap' is not in"),
        ({"k": 2, "max_suppressed": 2}, "max_suppressed is 2"),
    ],
)
def test_what_no_table_can_keep_is_refused(wrong: dict[str, Any], words: str) -> None:
    frame = pa.table({"age": [30, 40, 50], "ill": list("aba")})
    with pytest.raises(ParameterError, match=words):
        anonymize(frame, **{"quasi_identifiers": ["age"], "sensitive": ["ill"], **wrong})


def test_thousands_of_rows_are_cut_in_many_groups_in_a_moment() -> None:
    table = visits(20_000)
    frame = pa.table(dict(table.columns()))
    made = anonymize(
        frame,
        quasi_identifiers=["zip", "birth_date", "gender"],
        sensitive=["diagnosis"],
        k=5,
        l=2,
        hierarchies={"zip": Prefixes()},
    )
    assert made.anonymity.k >= 5
    assert made.anonymity.l >= 2
    assert made.anonymity.groups > 500
    assert made.information_lost < 0.4
