"""Shows an analyst's answers: the list, one as a table and a chart, its receipt.

All of it was released and paid for; nobody sees the answers of anybody else.

  Tested:   tests/curator/console/test_asking.py
"""

from functools import partial
from json import dumps

from fastapi import Request, Response

from letalone.answers.arranged import AS_IT_IS, arrange_release
from letalone.answers.promise import as_sure
from letalone.curator.asking.answer_arranging import from_address
from letalone.curator.asking.answer_numbers import as_csv, rows_and_charts
from letalone.curator.console.pages import console_routes, download, page
from letalone.curator.people.access import Context
from letalone.curator.people.visitors import Analyst, Visitor
from letalone.curator.storage.service_records import DataSetQuestion
from letalone.plans.stored_plans import plan_from_json
from letalone.session.release import Release
from letalone.session.steps.row_limit import warn_of_rows
from letalone.wire.records import PastReleaseRecord

ANSWERS_PER_PAGE, MAX_START = 50, 10**9
ARRANGED = "arranged"
MAX_TABLE_ROWS = 200  # of a table on a page; the file has all
routes = console_routes()


@routes.get("/history")
def history(request: Request, visitor: Analyst, data_set: str = "", start: int = 0) -> Response:
    """Own answers, the newest first."""
    asking, start = visitor.curator.asking, min(max(0, start), MAX_START)
    releases = asking.history(
        by=visitor.name, data_set=data_set or None, most=ANSWERS_PER_PAGE + 1, start=start
    )
    grants = visitor.curator.requests.grants(by=visitor.name, own=True)
    return page(
        request,
        "history.html",
        answers=[(item, Release.from_json(item.release)) for item in releases[:ANSWERS_PER_PAGE]],
        names=sorted({grant.data_set for grant in grants}),
        start=start,
        a_page=ANSWERS_PER_PAGE,
        more=len(releases) > ANSWERS_PER_PAGE,
        data_set=data_set,
    )


@routes.get("/history/{release_id}")
async def answer(request: Request, release_id: str, visitor: Analyst, service: Context) -> Response:
    """One of the own answers; sorted, filtered and cut as the address says.

    How many more like it fit may take long to find out.
    """
    return await service.aside(partial(_answer, request, release_id, visitor), by=visitor.name)


def _answer(request: Request, release_id: str, visitor: Visitor) -> Response:
    past = visitor.curator.asking.past(release_id, by=visitor.name)
    how = from_address(request.query_params.get(ARRANGED, ""))
    release = arrange_release(Release.from_json(past.release), how)
    rows, charts = rows_and_charts(release)
    return page(
        request,
        "answer.html",
        past=past,
        release=release,
        arranged=how != AS_IT_IS,
        sure=as_sure(release.confidence),
        beyond=warn_of_rows(plan_from_json(release.plan)),
        rows=rows[:MAX_TABLE_ROWS],
        near=any(value.near for _, values in rows for value in values),
        hidden=max(0, len(rows) - MAX_TABLE_ROWS),
        charts=charts,
        left=_remaining_in_words(past, release, visitor),
    )


@routes.get("/history/{release_id}/receipt")
def receipt(release_id: str, visitor: Analyst) -> Response:
    """The signed receipt as a file: `letalone verify` checks it offline."""
    stored = visitor.curator.asking.receipt(release_id, by=visitor.name)
    name = f"receipt-{stored['body']['entry']}.json"  # pyright: ignore
    return download(dumps(stored, ensure_ascii=False, indent=1), name, "application/json")


@routes.get("/history/{release_id}/csv")
def table(release_id: str, visitor: Analyst) -> Response:
    """All rows as a file: the numbers and ranges of the page, and those that were drawn."""
    past = visitor.curator.asking.past(release_id, by=visitor.name)
    return download(as_csv(Release.from_json(past.release)), "answer.csv", "text/csv")


def _remaining_in_words(past: PastReleaseRecord, release: Release, visitor: Visitor) -> str:
    question = DataSetQuestion(data_set=past.data_set, purpose=past.purpose, plan=release.plan)
    asking, terms = visitor.curator.asking, release.asked
    room = asking.remaining(question, terms.privacy, delta=terms.delta, by=visitor.name)
    return room.for_people
