"""A lazy Polars frame is opened where each of its rows is made from one person's rows."""

from dataclasses import replace

import polars as pl
import pytest

from letalone.engines.core.provenance import IN_MEMORY
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.engines.frames.lazy_plan import Manner, check_lazy, manner_of
from letalone.errors import ParameterError

x, ward, patient = pl.col("x"), pl.col("ward"), pl.col("patient")
PEOPLE = {
    "patient": [f"p{n}" for n in range(60)],
    "ward": [f"w{n % 7}" for n in range(60)],
    "x": [float(n % 13) for n in range(60)],
    "when": [n % 5 for n in range(60)],
}
BOB = {"patient": ["bob"] * 9, "ward": ["w1"] * 9, "x": [-1e12] * 9, "when": [*range(9)]}
PUBLIC = pl.DataFrame({"ward": ["w1", "w2"], "site": ["north", "south"]}).lazy()
FINE = {
    "as it is": lambda f: f,
    "listed": lambda f: f.with_columns(ward.replace({"w1": "one"}), n=ward.str.contains_any(["1"])),
    "filter": lambda f: f.filter((x > 3) & ward.is_in(["w1", "w2"]) | x.is_null()),
    "columns": lambda f: f.with_columns(z=x * 2 + 1, w=ward.str.to_uppercase(), one=pl.lit(1)),
    "case": lambda f: f.with_columns(z=pl.when(x > 3).then(x).otherwise(None).fill_null(0)),
    "numbers": lambda f: f.select("patient", z=(-x).abs().round(1).clip(0, 5).sqrt()),
    "cast": lambda f: f.with_columns(x.cast(pl.Int64), y=pl.concat_str("patient", "ward")),
    "dates": lambda f: f.with_columns(m=pl.lit("2024-01-31").str.to_date("%Y-%m-%d").dt.month()),
    "texts": lambda f: f.with_columns(
        a=ward.str.strip_chars().str.slice(0, 1).str.zfill(3),
        b=ward.str.contains("w") & ward.str.starts_with("w"),
        n=ward.str.len_chars() + ward.str.replace("w", "").str.to_integer(),
    ),
    "moments": lambda f: f.with_columns(
        m=pl.lit("2024-01-31 10:00")
        .str.to_datetime("%Y-%m-%d %H:%M")
        .dt.truncate("1d")
        .dt.weekday()
    ),
    "in a list of the row": lambda f: f.filter(x.is_in(pl.concat_list("x", pl.lit(1.0)))),
    "rename and drop": lambda f: f.rename({"x": "y"}).drop("ward").select("patient", "y"),
    "sort": lambda f: f.sort("x", descending=True),
    "append": lambda f: pl.concat([f.filter(x > 3), f.filter(x <= 3)]),
    "explode": lambda f: f.with_columns(l=pl.concat_list("x", "x")).explode("l"),
    "unpivot": lambda f: f.unpivot(index="patient", on=["x"]),
    "window by person": lambda f: f.with_columns(
        z=x.mean().over("patient"), r=x.rank().over(patient)
    ),
    "window by person and more": lambda f: f.with_columns(z=x.sum().over("ward", "patient")),
    "window by person in an order": lambda f: f.with_columns(
        z=x.diff().last().over("patient", (x > 3).alias("k"), order_by=-x)
    ),
    "group by person and more": lambda f: f.group_by("patient", (x > 3).alias("k")).agg(
        x.sort().first(), n=x.quantile(0.5)
    ),
    "group by person": lambda f: f.group_by("patient").agg(x.sum(), n=pl.len()),
    "first of each person": lambda f: f.unique(subset=["patient", "ward"], keep="any"),
    "whole rows once": lambda f: f.unique(),
    "rows of each person": lambda f: f.group_by("patient").head(2),
    "renamed person": lambda f: (
        f.rename({"patient": "id"}).with_columns(z=x.mean().over("id")).rename({"id": "patient"})
    ),
}
ACROSS = {
    "window by ward": (lambda f: f.with_columns(z=x.mean().over("ward")), "window"),
    "laid out anew": (
        lambda f: f.select("patient", x.sort().over("patient", mapping_strategy="explode")),
        "window",
    ),
    "first rows": (lambda f: f.sort("x").head(5), "limit"),
    "some rows": (lambda f: f.slice(3, 5), "limit"),
    "last rows": (lambda f: f.tail(5), "limit"),
    "numbered": (lambda f: f.with_row_index(), "numbers of rows"),
    "one of each ward": (lambda f: f.unique(subset=["ward"]), "unique"),
    "group by ward": (lambda f: f.group_by("ward").agg(patient.first(), x.sum()), "groups"),
    "an aggregate": (lambda f: f.with_columns(z=x - x.mean()), "a mean over all rows"),
    "filter by an aggregate": (lambda f: f.filter(x > x.mean()), "a mean over all rows"),
    "sort by an aggregate": (lambda f: f.sort(x.rank()).unique("patient"), "a rank over all rows"),
    "shifted": (lambda f: f.with_columns(z=x.shift(1)), "a shift over all rows"),
    "added up": (lambda f: f.with_columns(z=x.cum_sum()), "a cum_sum over all rows"),
    "rolling": (lambda f: f.with_columns(z=x.rolling_mean(3)), "a Mean over all rows"),
    "filled from others": (
        lambda f: f.with_columns(x.fill_null(strategy="forward")),
        "over all rows",
    ),
    "alone": (lambda f: f.filter(ward.is_unique()), "an IsUnique over all rows"),
    "in another order": (lambda f: f.select("patient", x.sort_by("x")), "a sortby over all rows"),
    "shuffled": (
        lambda f: f.select("patient", x.sample(60, shuffle=True)),
        "a sample over all rows",
    ),
    "from elsewhere": (lambda f: f.with_columns(pl.Series("z", range(69))), "by position"),
    "is one of the large": (
        lambda f: f.filter(x.is_in(x.top_k(5).implode())),
        "an implode over all rows",
    ),
    "is one of all": (lambda f: f.filter(x.is_in(x)), "an implode over all rows"),
    "group by person and a mean": (
        lambda f: f.group_by("patient", (x > x.mean()).alias("k")).agg(pl.len()),
        "a mean over all rows",
    ),
    "window by person and a mean": (
        lambda f: f.with_columns(z=pl.len().over("patient", x > x.mean())),
        "a mean over all rows",
    ),
    "window by person in an order by a mean": (
        lambda f: f.with_columns(
            z=x.first().over("patient", order_by=pl.when(x > x.mean()).then(0).otherwise(x))
        ),
        "a mean over all rows",
    ),
    "from elsewhere in a window": (
        lambda f: f.with_columns(z=(x + pl.lit(pl.Series(range(69)))).sum().over("patient")),
        "by position",
    ),
    "from elsewhere in a group": (
        lambda f: f.group_by("patient").agg(z=(x + pl.lit(pl.Series([1.0] * 69))).sum()),
        "by position",
    ),
    "a ward's mean in a group by person": (
        lambda f: f.group_by("patient").agg(z=(x - x.mean().over("ward")).sum()),
        "window",
    ),
    "dates by a format in the cells": (
        lambda f: f.with_columns(z=ward.str.to_date(strict=False)),
        "dates without a format",
    ),
    "moments by a format in the cells": (
        lambda f: f.with_columns(z=ward.str.to_datetime(strict=False)),
        "dates without a format",
    ),
    "times by a format in the cells": (
        lambda f: f.with_columns(z=ward.str.strptime(pl.Time, strict=False)),
        "dates without a format",
    ),
    "dates by a format in the cells in a window": (
        lambda f: f.with_columns(z=ward.str.to_date(strict=False).first().over("patient")),
        "dates without a format",
    ),
    "at random in a window": (
        lambda f: f.with_columns(z=x.shuffle().over("patient")),
        "a shuffle over all rows",
    ),
    "values of other rows": (
        lambda f: f.with_columns(ward.replace(ward, patient)),
        "replace with values of other rows",
    ),
    "person from a ward": (
        lambda f: f.with_columns(z=x.mean().over("patient"), patient=ward),
        "window",
    ),
    "person made of a window": (
        lambda f: f.with_columns(patient=patient.first().over("ward")),
        "window",
    ),
    "below a computed person": (
        lambda f: f.group_by("patient").agg(x.sum()).with_columns(patient.str.slice(0, 1)),
        "groups",
    ),
}
HIDDEN = {
    "join": (lambda f: f.join(PUBLIC, on="ward"), "a join"),
    "python by batch": (lambda f: f.map_batches(lambda frame: frame), "a Python function"),
    "python by column": (
        lambda f: f.with_columns(x.map_batches(lambda s: s - s.mean(), return_dtype=pl.Float64)),
        "a Python function",
    ),
    "python by cell": (
        lambda f: f.with_columns(x.map_elements(lambda cell: cell, return_dtype=pl.Float64)),
        "a Python function",
    ),
    "python in a group": (
        lambda f: f.group_by("patient").agg(x.map_batches(len, pl.Int64, returns_scalar=True)),
        "a Python function",
    ),
    "codes of categories": (
        lambda f: f.with_columns(z=ward.cast(pl.Categorical).to_physical()),
        "a function to_physical",
    ),
    "codes of categories in a window": (
        lambda f: f.with_columns(z=ward.cast(pl.Categorical).to_physical().first().over("patient")),
        "a function to_physical",
    ),
    "drawn from a list": (
        lambda f: f.with_columns(z=pl.concat_list("x", "x").list.sample(1)),
        "a function Sample",
    ),
    "rolling groups": (
        lambda f: f.sort("when").rolling("when", period="2i", group_by="patient").agg(x.sum()),
        "by time",
    ),
}


def rows(make, people):
    found = make(pl.DataFrame(people).lazy()).collect()
    return sorted(str(row) for row in found.filter(patient != "bob").rows())


@pytest.mark.parametrize("name", FINE)
def test_what_is_made_of_one_persons_rows_is_taken_and_a_person_moves_nobody_elses(name):
    frame = pl.DataFrame(PEOPLE).lazy()
    assert check_lazy(FINE[name](frame), "patient", vouched=False) == (IN_MEMORY,)
    both = {column: [*cells, *BOB[column]] for column, cells in PEOPLE.items()}
    assert rows(FINE[name], PEOPLE) == rows(FINE[name], both)


@pytest.mark.parametrize("name", ACROSS)
def test_what_mixes_people_is_refused_whoever_vouches_for_it(name):
    make, words = ACROSS[name]
    frame = make(pl.DataFrame({c: [*cells, *BOB[c]] for c, cells in PEOPLE.items()}).lazy())
    for vouched in (False, True):
        with pytest.raises(ParameterError, match=rf"across people: it holds .*{words}"):
            check_lazy(frame, "patient", vouched=vouched)


@pytest.mark.parametrize("name", HIDDEN)
def test_what_cannot_be_seen_needs_the_owners_word(name):
    make, words = HIDDEN[name]
    frame = make(pl.DataFrame(PEOPLE).lazy())
    with pytest.raises(ParameterError, match=rf"{words}.*rows='as they are'"):
        check_lazy(frame, "patient", vouched=False)
    assert any(words in one for one in check_lazy(frame, "patient", vouched=True))


NAMES = (
    "diff rank cum_sum cum_max cum_count interpolate forward_fill reverse arg_min arg_max product"
    " skew kurtosis entropy approx_n_unique rle_id peak_min null_count pct_change has_nulls"
    " is_unique is_duplicated is_first_distinct is_sorted"
)
SEVERAL = [
    *(getattr(x, name)() for name in NAMES.split()),
    *(x.shift(1), x.shift(1, fill_value=0), x.interpolate_by("when"), x.unique().sum()),
    *(x.unique_counts().max(), x.mode().max(), x.top_k(2).sum(), x.top_k_by("when", 2).sum()),
    *(x.arg_unique().sum(), (x > 2).arg_true().sum(), x.rle().struct.field("len").max()),
    *(x.value_counts().struct.field("count").max(), x.quantile(0.5), x.drop_nulls().first()),
    *(pl.corr("x", "when"), x.gather_every(2).sum(), x.index_of(2.0), x.ewm_mean(com=1)),
    *(x.rolling_mean(2), x.rolling_mean_by("when", "2i"), (x > 3).any(), x.sort().first()),
    *(x.filter(x > x.mean()).sum(), x.slice(1, 2).sum(), x.get(0)),
]


def test_functions_of_several_rows_see_one_persons_in_a_window_and_in_a_group():
    several = {f"z{n}": one for n, one in enumerate(SEVERAL)}
    people = PEOPLE | {"patient": [f"p{n // 4}" for n in range(60)], "when": [*range(60)]}
    both = {column: [*BOB[column], *cells] for column, cells in people.items()}
    for make in (
        lambda f: f.with_columns(**{name: one.over("patient") for name, one in several.items()}),
        lambda f: f.group_by("patient").agg(**several),
    ):
        made = make(pl.DataFrame(people).lazy())
        assert check_lazy(made, "patient", vouched=False) == (IN_MEMORY,)
        assert rows(make, people) == rows(make, both)


def test_without_a_unit_only_rows_by_themselves_are_taken():
    frame = pl.DataFrame(PEOPLE).lazy()
    check_lazy(frame.filter(x > 3).with_columns(z=x * 2), None, vouched=False)
    for made in (
        frame.unique(),
        frame.with_columns(x.mean().over("patient")),
        frame.group_by("patient").agg(x.sum()),
    ):
        with pytest.raises(ParameterError, match="from each row by itself"):
            check_lazy(made, None, vouched=False)


def test_files_are_scanned_by_row_and_no_limit_hides_in_them(tmp_path):
    path = tmp_path / "x.parquet"
    pl.DataFrame(PEOPLE).write_parquet(path)
    frame = pl.scan_parquet(path)
    assert check_lazy(frame.filter(x > 3), "patient", vouched=False) == ()
    for made in (frame.head(3), pl.scan_parquet(path, n_rows=3)):
        with pytest.raises(ParameterError, match="a limit"):
            check_lazy(made, "patient", vouched=False)
    with pytest.raises(ParameterError, match="numbers of rows"):
        check_lazy(pl.scan_parquet(path, row_index_name="i"), "patient", vouched=False)


def test_files_of_lines_are_hidden_and_a_limit_in_them_is_refused(tmp_path):
    frame = pl.DataFrame(PEOPLE)
    lines, objects, arrow = tmp_path / "x.csv", tmp_path / "x.ndjson", tmp_path / "x.arrow"
    frame.write_csv(lines)
    frame.write_ndjson(objects)
    frame.write_ipc(arrow)
    for made in (pl.scan_csv(lines), pl.scan_ndjson(objects), pl.scan_ipc(arrow)):
        with pytest.raises(ParameterError, match=r"a scan of .*Parquet.*la\.open\('file\.csv'\)"):
            check_lazy(made, "patient", vouched=False)
        assert check_lazy(made, "patient", vouched=True)
    for made in (
        pl.scan_csv(lines, n_rows=3),
        pl.scan_csv(lines, skip_rows=3),
        pl.scan_csv(lines, skip_lines=3),
        pl.scan_csv(lines, skip_rows_after_header=3),
        pl.scan_ndjson(objects, n_rows=3),
    ):
        with pytest.raises(ParameterError, match="a limit"):
            check_lazy(made, "patient", vouched=True)


def test_what_is_taken_on_trust_is_said_in_one_sentence():
    frame = pl.DataFrame(PEOPLE).lazy().join(PUBLIC, on="ward")
    engine = open_duck(frame, vouched=True)
    engine.check(replace(engine.schema(), unit="patient"))
    (said,) = engine.taken_on_trust()
    assert "cannot see how the rows were made (a join, a frame in memory)" in said


def test_a_function_with_a_setting_more_than_it_had_is_not_known():
    assert manner_of("StringFunction", "Contains", (False, True)) is Manner.ROW
    assert manner_of("StringFunction", "Contains", (False, True, 1)) is Manner.UNKNOWN
    assert manner_of("StringFunction", "Strptime", ("%Y", True, True, True)) is Manner.ROW
    for name in ("ToDecimal", "JsonDecode", "Anything"):
        assert manner_of("StringFunction", name, (None,)) is Manner.UNKNOWN, name


def test_a_plan_that_polars_no_longer_shows_is_hidden():
    class Changed:
        """As a lazy frame of another version of Polars."""

    with pytest.raises(ParameterError, match="does not show"):
        check_lazy(Changed(), "patient", vouched=False)


def test_a_lazy_frame_that_fails_says_no_value():
    frame = pl.DataFrame({"patient": ["SECRET"]}).lazy().with_columns(patient.cast(pl.Int64))
    with pytest.raises(ParameterError, match=r"\.collect\(\)") as error:
        open_duck(frame)
    assert "SECRET" not in str(error.value)
    assert error.value.__cause__ is None
    assert error.value.__context__ is None
