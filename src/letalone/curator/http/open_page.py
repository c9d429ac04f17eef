"""What the open page (G6) says: as JSON, and the words of the page that the console shows.

It speaks to people in the data: what is protected, how much may be revealed, what ε means.
"""

from re import sub
from typing import Any

from letalone.curator.http.said import said
from letalone.curator.http.who import Service

Json = dict[str, Any]
WHAT = (
    "People ask questions about the data below. They never see a row: an answer is about many at"
    " once, with random noise in it, so that it is nearly the same whether any one person is in the"
    " data or not, and whatever is written about them."
)
EPSILON = (
    "How much all answers together may reveal about one person is counted by ε (epsilon). Compared"
    " with answers from data without that person, any outcome is more or less likely by a factor of"
    " at most e to the power ε: 1.11 at ε = 0.1, 2.72 at ε = 1, 149 at ε = 5. δ (delta) is a tiny"
    " probability that this leaves out: δ = 1e-6 is one in a million. When a budget"
    " is spent, nothing more is answered."
)


def open_page(service: Service) -> Json:
    """The open page, made anew every few seconds: anybody may ask for it as often as they like."""
    return service.page.value(lambda: said(service.curator.openness.page()))


def protected(found: Json) -> str:
    """Who is protected, in words for them; and the definition in brackets."""
    who = sub(r"(?i)[_ -]?id$", "", found["unit"]).replace("_", " ").strip() or "person"
    rows = "" if who == "row" else ", with all of their rows"
    return f"Each {who} is protected{rows}: answers hide whether they are in ({found['protects']})."


def day_and_time(moment: str) -> str:
    """A time in UTC as people write it."""
    return moment.replace("T00:00:00Z", "").replace("T", " ").replace("Z", " UTC")
