"""Answers that an analyst has: the list, one as a table and a chart, its receipt.

All of it was released and paid for; nobody sees the answers of anybody else.

  Tested:   tests/curator/console/test_asking.py
"""

from csv import writer
from dataclasses import dataclass
from datetime import date
from io import StringIO
from json import dumps
from typing import Any, cast

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from letalone.answers.columns import Cell, Kind, Output
from letalone.answers.promise import as_sure
from letalone.answers.views import key_text, output_cells
from letalone.curator.console.charts import bars_with_errors, lines_with_errors
from letalone.curator.console.pages import console_routes, page
from letalone.curator.console.visitors import Analyst, Visitor
from letalone.curator.http.who import Served, Service
from letalone.curator.records import PastRelease, Question
from letalone.session.release import Release

A_PAGE, FARTHEST = 50, 10**9
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would compute
MOST_ROWS = 200  # of a table on a page; the file has all
FEWEST_POINTS = 4  # fewer are bars, also of days and numbers
routes = console_routes()


@dataclass(frozen=True, slots=True)
class Value:
    """One number of an answer, and between which ends it lies."""

    words: str
    ends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """A column of an answer, drawn."""

    name: str
    svg: Markup


@routes.get("/history")
def history(
    request: Request, visitor: Analyst, service: Served, data_set: str = "", start: int = 0
) -> Response:
    """Own answers, the newest first."""
    asking, start = service.curator.asking, min(max(0, start), FARTHEST)
    found = asking.history(by=visitor.name, data_set=data_set or None, most=A_PAGE + 1, start=start)
    return page(
        request,
        "history.html",
        answers=[(one, Release.from_json(one.release)) for one in found[:A_PAGE]],
        names=sorted({one.data_set for one in asking.standing(by=visitor.name)}),
        start=start,
        a_page=A_PAGE,
        more=len(found) > A_PAGE,
        data_set=data_set,
    )


@routes.get("/history/{release_id}")
async def answer(request: Request, release_id: str, visitor: Analyst, service: Served) -> Response:
    """One of the own answers; how many more like it fit may take long to find out."""

    def look() -> Response:
        past = service.curator.asking.past(release_id, by=visitor.name)
        return answer_page(request, visitor, service, past)

    return await service.aside(look, by=visitor.name)


@routes.get("/history/{release_id}/receipt")
def receipt(release_id: str, visitor: Analyst, service: Served) -> Response:
    """The signed receipt as a file: `letalone verify` checks it offline."""
    found = service.curator.asking.receipt(release_id, by=visitor.name)
    name = f"receipt-{found['body']['entry']}.json"  # pyright: ignore
    return Response(
        dumps(found, ensure_ascii=False, indent=1),
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
        media_type="application/json",
    )


@routes.get("/history/{release_id}/csv")
def table(release_id: str, visitor: Analyst, service: Served) -> Response:
    """All rows as a file, with the noisy numbers and the ends of their ranges."""
    past = service.curator.asking.past(release_id, by=visitor.name)
    found, out = Release.from_json(past.release), StringIO(newline="")
    write = writer(out)
    write.writerow([_as_text(name) for name in found.columns])
    write.writerows([_as_text(row[name]) for name in found.columns] for row in found.rows())
    return Response(
        out.getvalue(),
        headers={"Content-Disposition": 'attachment; filename="answer.csv"'},
        media_type="text/csv",
    )


def _as_text(cell: Any) -> Any:
    """Text that a spreadsheet would take for a formula begins with a sign that says it is text."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def answer_page(
    request: Request,
    visitor: Visitor,
    service: Service,
    past: PastRelease,
    *,
    release: Release | None = None,
) -> Response:
    """An answer; `release` where it was sorted or cut."""
    found = release or Release.from_json(past.release)
    rows = _rows(found)
    return page(
        request,
        "answer.html",
        past=past,
        release=found,
        arranged=release is not None,
        sure=as_sure(found.confidence),
        rows=rows[:MOST_ROWS],
        hidden=max(0, len(rows) - MOST_ROWS),
        charts=_charts(found),
        left=_left(past, found, visitor, service),
    )


def _left(past: PastRelease, found: Release, visitor: Visitor, service: Service) -> str:
    """About how many more like this one fit."""
    question = Question(data_set=past.data_set, purpose=past.purpose, plan=found.plan)
    asked = found.asked
    return service.curator.asking.left(question, asked.privacy, delta=asked.delta, by=visitor.name)


def _rows(found: Release) -> list[tuple[list[str], list[Value]]]:
    keys = [[key_text(cell) for cell in column.values] for column in found.keys]
    values = [_values(output) for output in found.shown]
    size = len(values[0]) if values else 0
    return [([one[row] for one in keys], [one[row] for one in values]) for row in range(size)]


def _values(output: Output) -> list[Value]:
    """The cells, with as many digits as mean something; ends are rounded outwards."""
    cells = output_cells(output)
    return [Value(cell) for cell in cells] if output.low is None else [_split(c) for c in cells]


def _split(cell: str) -> Value:
    words, _, ends = cell.partition(" [")
    return Value(words, tuple(ends.removesuffix("]").split(", ")) if ends else ())


def _charts(found: Release) -> list[Chart]:
    """A chart for each column of numbers that has several groups."""
    if not found.keys or not found.keys[0].values:
        return []
    numeric = [one for one in found.shown if one.kind.is_numeric]
    return [Chart(one.name, _drawn(found, one)) for one in numeric]


def _drawn(found: Release, output: Output) -> Markup:
    values = [_float(value) for value in output.values]
    halves = [_half(output, row) for row in range(len(values))]
    sure = as_sure(found.confidence)
    (first, *others) = found.keys
    cells = cast("tuple[Any, ...]", first.values)
    if not others and first.kind in (Kind.DATE, Kind.INTEGER, Kind.NUMBER):
        ordered = all(isinstance(one, date | int | float) for one in cells)
        if ordered and len(cells) >= FEWEST_POINTS:
            return lines_with_errors(cells, values, halves, title=output.name, confidence=sure)
    labels = [", ".join(key_text(one) for one in row) for row in _key_rows(found)]
    return bars_with_errors(labels, values, halves, title=output.name, confidence=sure)


def _key_rows(found: Release) -> list[tuple[Cell, ...]]:
    return list(zip(*(column.values for column in found.keys), strict=True))


def _half(output: Output, row: int) -> float | None:
    """The longer side of the interval: what is drawn is never narrower than what is known."""
    value = _float(output.values[row])
    if value is None or output.low is None or output.high is None:
        return None
    low, high = _float(output.low[row]), _float(output.high[row])
    return None if low is None or high is None else max(value - low, high - value, 0.0)


def _float(value: Cell) -> float | None:
    return float(value) if isinstance(value, int | float) else None
