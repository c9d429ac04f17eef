"""The open page (G6) as plain HTML: no script, one stylesheet, every word escaped.

It speaks to people in the data: what is protected, how much may be revealed, what ε means.
"""

from collections.abc import Iterator
from html import escape
from re import sub
from typing import Any

Json = dict[str, Any]
HEADINGS = ("purpose", "may spend", "spent", "until")
STYLE = """:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 1rem; }
main { max-width: 44rem; margin: 2rem auto; }
h1 { font-size: 1.6rem; }
h2 { font-size: 1.25rem; margin-top: 2.5rem; border-top: 1px solid #8886; padding-top: 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid #8886; }
th { font-weight: 600; }
.small { font-size: 0.875rem; opacity: 0.8; overflow-wrap: anywhere; }
"""
WHAT = (
    "People ask questions about the data below. They never see a row: an answer is about many at"
    " once, with random noise in it, so that it is nearly the same whether any one person is in the"
    " data or not, and whatever is written about them."
)
EPSILON = (
    "How much all answers together may reveal about one person is counted by ε (epsilon). Compared"
    " with answers from data without that person, any outcome is more or less likely by a factor of"
    " at most e to the power ε: 1.1 at ε = 0.1, 2.7 at ε = 1, 148 at ε = 5. δ (delta) is a tiny"
    " probability that this leaves out. When a budget is spent, nothing more is answered."
)


def open_page(page: Json) -> str:
    """What `Openness.page` says, for reading."""
    return "\n".join(["<!doctype html>", '<html lang="en">', *_head(), *_body(page), "</html>\n"])


def _head() -> Iterator[str]:
    yield '<head><meta charset="utf-8"><title>What is asked of whose data</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<link rel="stylesheet" href="/open.css"></head>'


def _body(page: Json) -> Iterator[str]:
    yield "<body><main><h1>What is asked of whose data</h1>"
    yield _paragraph(WHAT)
    yield _paragraph(EPSILON)
    yield _paragraph(
        f"Who answers for the data: {page['controller']}. Contact: {page['contact']}. Ask them what"
        " is held about you, and to correct or erase it."
    )
    for data_set in page["data_sets"]:
        yield from _section(data_set)
    words = f"Receipts of answers are signed by the key with the fingerprint {page['key']}."
    yield f'<p class="small">{escape(words)}</p>'
    yield "</main></body>"


def _section(found: Json) -> Iterator[str]:
    gone = " It was retired: its rows are gone." if found["retired"] else ""
    until = f" Its rows are kept until {found['retention']}." if found["retention"] else ""
    columns = ", ".join(f"{one['name']} ({one['type']})" for one in found["columns"])
    yield f"<h2>{escape(found['name'])}</h2>"
    yield _paragraph(f"{found['description'] or 'Not described.'}{gone}{until}")
    yield _paragraph(protected(found))
    yield _paragraph(f"What is held: {columns}.")
    yield _paragraph(
        f"All answers together may reveal {_amounts(found['budget'])}; so far"
        f" {found['spent_in_words']} is spent, on {found['releases']} answers."
    )
    yield "<table><tr>" + "".join(f"<th>{words}</th>" for words in HEADINGS) + "</tr>"
    for one in found["purposes"]:
        yield f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in _cells(one))}</tr>"
    yield "</table>"


def protected(found: Json) -> str:
    """Who is protected, in words for them; and the definition in brackets."""
    who = sub(r"(?i)[_ -]?id$", "", found["unit"]).replace("_", " ").strip() or "person"
    rows = "" if who == "row" else ", with all of their rows"
    return f"Each {who} is protected{rows}: answers hide whether they are in ({found['protects']})."


def day_and_time(moment: str) -> str:
    """A time in UTC as people write it."""
    return moment.replace("T00:00:00Z", "").replace("T", " ").replace("Z", " UTC")


def _cells(one: Json) -> list[str]:
    ends = day_and_time(one["expires"]) if one["expires"] else "no end"
    state = ends if one["state"] == "open" else one["state"]
    return [one["name"], _amounts(one["budget"]), one["spent_in_words"], state]


def _amounts(budget: Json) -> str:
    delta = f", δ = {budget['delta']:g}" if budget["delta"] else ""
    return f"ε = {budget['epsilon']:g}{delta}"


def _paragraph(words: str) -> str:
    return f"<p>{escape(words)}</p>"
