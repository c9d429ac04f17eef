"""`letalone anonymity`: figures for the owner, a table that keeps what was asked, one page."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from letalone.anonymity import measure
from letalone.answers.promise import as_percent
from letalone.sample.hospital import visits
from screens import check_refusal, check_screen, offered

Letalone = Callable[..., Any]
ASKED = ("my.csv", "--quasi-identifiers", "zip,birth_date,gender", "--sensitive", "diagnosis")
QUASI = ["zip", "birth_date", "gender"]
VOID = {"meta"}


@pytest.fixture
def my(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    visits(300).to_csv("my.csv")
    return tmp_path


class Page(HTMLParser):
    """Sees that tags are closed in order, and keeps what the page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.pictures = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [str(value) for name, value in attrs if name in ("src", "href")]
        self.pictures += tag == "svg"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        self.fetched += [str(value) for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a1_a_table_without_names_has_unique_people(letalone: Letalone, my: Path) -> None:
    words = check_screen(letalone("anonymity", *ASKED))
    found = measure("my.csv", quasi_identifiers=QUASI, sensitive=["diagnosis"])
    assert found.uniques > 20
    for part in (f"{found.uniques:,} (", "smallest groups", "None of this is differential privacy"):
        assert part in words
    assert "where 'patient_id' repeats" in words
    as_json = letalone("anonymity", *ASKED, "--json").json()
    assert as_json["anonymity"] == found.to_json()
    assert as_json["anonymous"] is None


@pytest.mark.long  # anonymity/test_people.py stays
def test_the_table_that_is_written_keeps_what_was_asked(letalone: Letalone, my: Path) -> None:
    more = ("--k", "4", "--l", "2", "--t", "0.5")
    words = check_screen(letalone("anonymity", *ASKED, *more, "--out", "anonymous.csv"))
    assert "Wrote anonymous.csv." in words
    assert "Dropped columns: patient_id, ward, cost." in words
    for name in ("anonymous.csv", "anonymous.parquet"):
        assert letalone("anonymity", *ASKED, *more, "--out", name).code == 0
        found = measure(name, quasi_identifiers=QUASI, sensitive=["diagnosis"])
        assert found.k >= 4
        assert found.l >= 2
        assert found.t <= 0.5
    written, stored = pyarrow.csv.read_csv("anonymous.csv"), pq.read_table("anonymous.parquet")
    assert written.column_names == stored.column_names == [*QUASI, "diagnosis"]


def test_with_a_unit_people_are_counted_and_not_rows(letalone: Letalone, my: Path) -> None:
    Path("one.csv").write_text("who,zip,ill\n" + "ann,1,flu\n" * 5 + "bob,2,flu\ncleo,2,gout\n")
    asked = ("one.csv", "--quasi-identifiers", "zip", "--sensitive", "ill")
    rows, people = (
        letalone("anonymity", *asked, *more, "--json").json()["anonymity"]
        for more in ((), ("--unit", "who"))
    )
    assert (rows["k"], rows["uniques"], rows["unit"]) == (2, 0, None)
    assert (people["k"], people["uniques"], people["people"]) == (1, 1, 3)
    words = check_screen(letalone("anonymity", *asked, "--unit", "who"))
    assert "7 rows of 3 people" in words
    assert "k: people that are alike" in words


def test_a_table_by_people_is_written_without_them(letalone: Letalone, my: Path) -> None:
    more = ("--k", "4", "--unit", "patient_id", "--html", "page.html", "--out", "anonymous.csv")
    words = check_screen(letalone("anonymity", *ASKED, *more))
    assert "Dropped columns: patient_id, ward, cost." in words
    assert "where 'patient_id' repeats" not in words
    written = pyarrow.csv.read_csv("anonymous.csv")
    assert written.column_names == [*QUASI, "diagnosis"]
    assert " of 300 people in " in Path("page.html").read_text("utf-8")


def test_the_page_is_whole_fetches_nothing_and_shows_no_value(letalone: Letalone, my: Path) -> None:
    assert letalone("anonymity", *ASKED, "--k", "3", "--html", "page.html").code == 0
    text = Path("page.html").read_text("utf-8")
    page = Page()
    page.feed(text)
    assert page.open == []
    assert (page.fetched, page.pictures) == ([], 4)
    assert "http" not in text.replace("http-equiv", "")
    for secret in ("02121", "asthma", "1987"):
        assert secret not in text


@pytest.mark.long  # the page: test_the_page_is_whole_fetches_nothing_and_shows_no_value
def test_the_page_says_what_was_asked_and_shows_no_failing_size_as_good(
    letalone: Letalone, my: Path
) -> None:
    more = ("--k", "7", "--l", "2", "--html", "page.html")
    found = letalone("anonymity", *ASKED, *more, "--json").json()["anonymous"]
    text = Path("page.html").read_text("utf-8")
    assert "Asked for: k = 7, l = 2." in text
    assert "prosecutor (who knows that a person is in the table)" in text
    before = text.split("The anonymous table")[0].split("by the size of their group")[1]
    kinds = dict(re.findall(r'<text x="0"[^>]*>([^<]*)<.*?<rect class="(bad|good|plain)"', before))
    assert [kinds[name] for name in ("alone", "2 to 4", "5 to 6")] == ["bad"] * 3
    assert [kinds[name] for name in ("7 to 9", "10 to 49", "50 or more")] == ["good"] * 3
    assert "Rows whose diagnosis is certain" in text
    shown = letalone("anonymity", *ASKED, *more).out
    assert as_percent(found["lost"]["zip"]) in shown
    assert f"<td>{as_percent(found['lost']['zip'])}</td>" in text
    assert letalone("anonymity", *ASKED, "--html", "page.html").code == 0
    assert 'class="good" width="0.00%"' in Path("page.html").read_text("utf-8")


def test_one_row_is_no_rows_and_rows_are_no_people(letalone: Letalone, my: Path) -> None:
    Path("one.csv").write_text("zip,ill\n1,flu\n")
    words = check_screen(
        letalone("anonymity", "one.csv", "--quasi-identifiers", "zip", "--sensitive", "ill")
    )
    assert "one.csv: 1 row; rows alike in zip" in words
    assert "ill certain, of rows" in words
    found = str(measure("one.csv", quasi_identifiers=["zip"], sensitive=["ill"]))
    assert "1 row in 1 group of the same zip" in found
    assert "1 row (100 %) is unique" in found
    assert "certain for 1 row" in found


@pytest.mark.long  # the table: test_the_table_that_is_written_keeps_what_was_asked
def test_the_text_nan_among_numbers_leaves_them_in_order(letalone: Letalone, my: Path) -> None:
    for name, missing in (("nan.csv", "NaN"), ("empty.csv", "")):
        Path(name).write_text(f"zip,cost\n1,9\n1,10\n2,{missing}\n2,30\n")
    with_text, without = (
        measure(name, quasi_identifiers=["zip"], sensitive=["cost"])
        for name in ("nan.csv", "empty.csv")
    )
    assert with_text.t_ordered == without.t_ordered is not None
    asked = ("nan.csv", "--quasi-identifiers", "zip", "--sensitive", "cost")
    assert f"cost: t (ordered) 0.5 ({with_text.t_ordered:.3g})" in check_screen(
        letalone("anonymity", *asked)
    )
    Path("text.csv").write_text("zip,cost\n1,NaN\n1,nan\n")
    found = measure("text.csv", quasi_identifiers=["zip"], sensitive=["cost"])
    assert found.t_ordered is None


def test_names_of_columns_cannot_write_html(letalone: Letalone, my: Path) -> None:
    Path("odd.csv").write_text("<b>zip</b>,<script>\n1,2\n1,3\n")
    words = ("--quasi-identifiers", "<b>zip</b>", "--sensitive", "<script>", "--html", "page.html")
    assert letalone("anonymity", "odd.csv", *words, "--k", "2").code == 0
    text = Path("page.html").read_text("utf-8")
    assert "<script>" not in text
    assert "<b>" not in text


def test_a_cell_cannot_steer_the_terminal(letalone: Letalone, my: Path) -> None:
    Path("odd.csv").write_text("q\n\x1b[2J[red]x\n")
    assert "\x1b" not in letalone("anonymity", "odd.csv", "--quasi-identifiers", "q").out


def test_a_row_that_cannot_be_read_never_makes_k_better(letalone: Letalone, my: Path) -> None:
    Path("old.csv").write_bytes(b"zip,ill\n1,flu\n1,gout\n2,gr\xfcn\n")  # 2 is alone: k is 1
    shown = letalone("anonymity", "old.csv", "--quasi-identifiers", "zip")
    assert "1 row of old.csv could not be read" in check_refusal(shown, 2)
    shown = letalone("attack", "linkage", "my.csv", "old.csv", "--on", "zip")
    assert "Save the file as UTF-8" in check_refusal(shown, 2)


def test_a_repeated_option_adds_a_column_and_a_name_may_have_a_comma(
    letalone: Letalone, my: Path
) -> None:
    Path("odd.csv").write_text('zip,"a, b",ill\n1,2,flu\n1,3,flu\n')
    for words in (
        ("--quasi-identifiers", "zip", "--quasi-identifiers", "a, b"),
        ("--quasi-identifiers", 'zip,"a, b"'),
    ):
        found = letalone("anonymity", "odd.csv", *words, "--json").json()["anonymity"]
        assert (found["quasi_identifiers"], found["k"]) == (["zip", "a, b"], 1)
    asked = ("my.csv", "--quasi-identifiers", "zip", "--sensitive", "diagnosis")
    found = letalone("anonymity", *asked, "--sensitive", "ward,cost", "--json").json()
    assert list(found["anonymity"]["sensitive"]) == ["diagnosis", "ward", "cost"]


def test_a_table_of_a_duckdb_file_is_named(letalone: Letalone, my: Path) -> None:
    with duckdb.connect("two.duckdb") as made:
        made.execute("CREATE TABLE a AS SELECT 1 AS q; CREATE TABLE b AS SELECT 1 AS q")
    shown = letalone("anonymity", "two.duckdb", "--quasi-identifiers", "q")
    check_refusal(shown, 2)
    for command in offered(shown.err):
        assert letalone(*command).code == 0


def test_hierarchies_and_a_population_can_be_given(letalone: Letalone, my: Path) -> None:
    kinds = ("--hierarchy", "zip=sets", "--hierarchy", "birth_date=prefixes")
    found = letalone(
        "anonymity", *ASKED, "--k", "3", *kinds, "--population", "10000", "--json"
    ).json()
    coarsened = {"zip": "sets", "birth_date": "prefixes", "gender": "sets"}
    assert found["anonymous"]["coarsened"] == coarsened
    assert found["anonymity"]["risk"]["is_estimate"]
    assert "about" in check_screen(letalone("anonymity", *ASKED, "--population", "10000"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("my.csv",), "Which columns may others know"),
        (("my.csv", "--quasi-identifiers", "zap"), "Did you mean 'zip'"),
        ((*ASKED, "--out", "x.csv"), "need --k"),
        ((*ASKED, "--l", "2"), "need --k"),
        ((*ASKED, "--k", "2", "--out", "my.csv"), "the table itself"),
        ((*ASKED, "--k", "2", "--out", "x.txt"), "must be .csv or .parquet"),
        ((*ASKED, "--k", "0"), "Error: --k is 0"),
        ((*ASKED, "--k", "2", "--max-suppressed", "3"), "Error: --max-suppressed is 3"),
        (("my.csv", "--quasi-identifiers", "zip,zip"), "Error: --quasi-identifiers names 'zip'"),
        (("my.csv", "--quasi-identifiers", "zip", "--k", "2", "--l", "2"), "--sensitive diagnosis"),
        ((*ASKED, "--unit", "zip"), "'zip' is the unit"),
        ((*ASKED, "--unit", "patient"), "Did you mean 'patient_id'"),
        ((*ASKED, "--k", "2", "--hierarchy", "zip=trees"), "Kinds are: prefixes"),
        (("my.csv", "--quasi-identifiers", "zip", "--html", "p.html"), "needs --sensitive"),
        ((*ASKED, "--html", "no/page.html"), "there is no folder no"),
        ((*ASKED, "--html", "."), "which is a folder"),
        ((*ASKED, "--k", "2", "--out", "no/x.csv"), "there is no folder no"),
        (("my.csv", "--quasi-identifiers", "zap"), "is not in table 'my.csv'"),
        (("no.csv", "--quasi-identifiers", "zip"), "There is no file"),
    ],
)
@pytest.mark.few("words1-", "words5", "words6", "words12")
def test_wrong_usage_is_refused_with_the_remedy(
    letalone: Letalone, my: Path, words: tuple[str, ...], said: str
) -> None:
    assert said in check_refusal(letalone("anonymity", *words), 2)
    assert {path.name for path in my.iterdir()} == {"my.csv"}


def test_the_help_fits_a_screen(letalone: Letalone) -> None:
    assert len(letalone("anonymity", "--help").out.splitlines()) < 25
