"""Answers that an analyst has: the list, one as a table and a chart, its receipt.

All of it was released and paid for; nobody sees the answers of anybody else.

  Tested:   tests/curator/console/test_asking.py
"""

from json import dumps

from starlette.requests import Request
from starlette.responses import Response

from letalone.answers.arranged import AS_IT_IS, arrange_release
from letalone.answers.promise import as_sure
from letalone.curator.console.answer_numbers import rows_and_charts
from letalone.curator.console.arranging import from_address
from letalone.curator.console.pages import console_routes, page
from letalone.curator.console.spreadsheets import as_csv
from letalone.curator.console.visitors import Analyst, Visitor
from letalone.curator.http.who import Served, Service
from letalone.curator.records import PastRelease, Question
from letalone.session.release import Release

A_PAGE, FARTHEST = 50, 10**9
ARRANGED = "arranged"
MOST_ROWS = 200  # of a table on a page; the file has all
routes = console_routes()


@routes.get("/history")
def history(
    request: Request, visitor: Analyst, service: Served, data_set: str = "", start: int = 0
) -> Response:
    """Own answers, the newest first."""
    asking, start = service.curator.asking, min(max(0, start), FARTHEST)
    releases = asking.history(
        by=visitor.name, data_set=data_set or None, most=A_PAGE + 1, start=start
    )
    return page(
        request,
        "history.html",
        answers=[(item, Release.from_json(item.release)) for item in releases[:A_PAGE]],
        names=sorted({item.data_set for item in asking.standing(by=visitor.name)}),
        start=start,
        a_page=A_PAGE,
        more=len(releases) > A_PAGE,
        data_set=data_set,
    )


@routes.get("/history/{release_id}")
async def answer(request: Request, release_id: str, visitor: Analyst, service: Served) -> Response:
    """One of the own answers; sorted, filtered and cut as the address says.

    How many more like it fit may take long to find out.
    """

    def look() -> Response:
        past = service.curator.asking.past(release_id, by=visitor.name)
        how = from_address(request.query_params.get(ARRANGED, ""))
        release = None if how == AS_IT_IS else arrange_release(Release.from_json(past.release), how)
        return answer_page(request, visitor, service, past, release=release)

    return await service.aside(look, by=visitor.name)


@routes.get("/history/{release_id}/receipt")
def receipt(release_id: str, visitor: Analyst, service: Served) -> Response:
    """The signed receipt as a file: `letalone verify` checks it offline."""
    stored = service.curator.asking.receipt(release_id, by=visitor.name)
    name = f"receipt-{stored['body']['entry']}.json"  # pyright: ignore
    return Response(
        dumps(stored, ensure_ascii=False, indent=1),
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
        media_type="application/json",
    )


@routes.get("/history/{release_id}/csv")
def table(release_id: str, visitor: Analyst, service: Served) -> Response:
    """All rows as a file: the numbers and ranges of the page, and those that were drawn."""
    past = service.curator.asking.past(release_id, by=visitor.name)
    return Response(
        as_csv(Release.from_json(past.release)),
        headers={"Content-Disposition": 'attachment; filename="answer.csv"'},
        media_type="text/csv",
    )


def answer_page(
    request: Request,
    visitor: Visitor,
    service: Service,
    past: PastRelease,
    *,
    release: Release | None = None,
) -> Response:
    """An answer; `release` where it was sorted or cut."""
    shown_release = release or Release.from_json(past.release)
    rows, charts = rows_and_charts(shown_release)
    return page(
        request,
        "answer.html",
        past=past,
        release=shown_release,
        arranged=release is not None,
        sure=as_sure(shown_release.confidence),
        rows=rows[:MOST_ROWS],
        near=any(value.words.startswith("near ") for _, values in rows for value in values),
        hidden=max(0, len(rows) - MOST_ROWS),
        charts=charts,
        left=_remaining_in_words(past, shown_release, visitor, service),
    )


def _remaining_in_words(
    past: PastRelease, found: Release, visitor: Visitor, service: Service
) -> str:
    """About how many more like this one fit."""
    question = Question(data_set=past.data_set, purpose=past.purpose, plan=found.plan)
    terms = found.asked
    asking = service.curator.asking
    room = asking.remaining(question, terms.privacy, delta=terms.delta, by=visitor.name)
    return room.for_people
