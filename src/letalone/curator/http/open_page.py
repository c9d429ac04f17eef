"""The open page (G6) as plain HTML: no script, nothing fetched, every word escaped."""

from collections.abc import Iterator
from html import escape
from typing import Any

Json = dict[str, Any]
HEADINGS = ("purpose", "may spend", "spent", "until")


def open_page(page: Json) -> str:
    """What `Openness.page` says, for reading."""
    return "\n".join(["<!doctype html>", '<html lang="en">', *_head(), *_body(page), "</html>\n"])


def _head() -> Iterator[str]:
    yield '<head><meta charset="utf-8"><title>What is asked of whose data</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1"></head>'


def _body(page: Json) -> Iterator[str]:
    yield "<body><main><h1>What is asked of whose data</h1>"
    yield _paragraph(f"Answerable: {page['controller']}. Contact: {page['contact']}.")
    yield _paragraph(f"Receipts are signed by the key {page['key']}.")
    for data_set in page["data_sets"]:
        yield from _section(data_set)
    yield "</main></body>"


def _section(found: Json) -> Iterator[str]:
    gone = " It was retired: its rows are gone." if found["retired"] else ""
    until = f" Its rows are kept until {found['retention']}." if found["retention"] else ""
    columns = ", ".join(f"{one['name']} ({one['type']})" for one in found["columns"])
    yield f"<h2>{escape(found['name'])}</h2>"
    yield _paragraph(f"{found['description'] or 'Not described.'}{gone}{until}")
    yield _paragraph(f"It protects: {found['protects']}. Columns: {columns}.")
    yield _paragraph(
        f"All answers together may reveal ({_amounts(found['budget'])});"
        f" ({found['spent_in_words']}) is spent. Answers so far: {found['releases']}."
    )
    yield "<table><tr>" + "".join(f"<th>{words}</th>" for words in HEADINGS) + "</tr>"
    for one in found["purposes"]:
        yield f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in _cells(one))}</tr>"
    yield "</table>"


def _cells(one: Json) -> list[str]:
    ends = one["expires"] or "no end"
    state = ends if one["state"] == "open" else one["state"]
    return [one["name"], _amounts(one["budget"]), one["spent_in_words"], state]


def _amounts(budget: Json) -> str:
    delta = f", δ = {budget['delta']:g}" if budget["delta"] else ""
    return f"ε = {budget['epsilon']:g}{delta}"


def _paragraph(words: str) -> str:
    return f"<p>{escape(words)}</p>"
