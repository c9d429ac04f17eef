"""One page about a table: what was measured, what was made of it, who is exposed. With pictures.

The page is one file that fetches nothing, and holds numbers and names of columns, but no value of
the table.

  Tested:   tests/cli/test_anonymity.py
"""

from collections.abc import Mapping, Sequence
from html import escape

from letalone.anonymity.anonymizing import Anonymized
from letalone.anonymity.exposure import WHY, Limits
from letalone.anonymity.measuring import Anonymity, Diversity
from letalone.anonymity.risk import Risk
from letalone.answers.promise import as_percent
from letalone.drawing.shares import ShareBar, shares_svg
from letalone.errors.spelling import plural, plural_people, plural_rows

SIZES = (1, 2, 5, 10, 50)  # a bar begins at each of them, and at the k that was asked for
FACTS = ("nothing more", "one value that is wrong", "two values that are wrong")
STYLE = """
:root{color-scheme:light dark;--ink:#1d2733;--soft:#5b6875;--line:#d5dbe1;--bad:#b3261e;
--good:#1b6e53;--paper:#fff;--track:#eceff2}
@media(prefers-color-scheme:dark){:root{--ink:#e6eaee;--soft:#9aa7b4;--line:#39434e;--bad:#f2857c;
--good:#67c7a4;--paper:#14191f;--track:#232b34}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:44rem;
margin:2rem auto;padding:0 1rem}
h1,h2,h3{line-height:1.25;text-wrap:balance;overflow-wrap:anywhere}
h1{font-size:1.6rem}h2{font-size:1.25rem;margin:2.5rem 0 .75rem}
h3{font-size:1rem;margin:1.75rem 0 .75rem}
.wide{overflow-x:auto;margin:1rem 0}
table{border-collapse:collapse;width:100%}th,td{text-align:right;padding:.3rem .5rem;
border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}
th:first-child,td:first-child{text-align:left;padding-left:0}
th:last-child,td:last-child{padding-right:0}th{color:var(--soft);font-weight:500}
svg{display:block;width:100%}svg text{font:14px system-ui,sans-serif;fill:var(--ink)}
.bad{fill:var(--bad)}.good{fill:var(--good)}.plain{fill:var(--soft)}.track{fill:var(--track)}
@media(max-width:30rem){table{font-size:.85rem}th,td{padding:.3rem .25rem}}
"""
HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width,initial-scale=1">'
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
)


def page(
    title: str,
    found: Limits,
    made: tuple[Anonymized, Limits] | None = None,
    *,
    asked: Mapping[str, float] | None = None,
) -> str:
    """The page: about a table and, where one was made of it, the anonymous one.

    `asked` are the k, l and t that were asked for: groups that are smaller than k are bad news.
    """
    wanted = asked or {}
    parts = [_about("The table as it is", found, wanted)]
    if made is not None:
        parts.append(_made_part(*made, wanted))
    parts.append(_beside(found))
    heading = f"<h1>How anonymous is {escape(title)}?</h1>"
    return (
        f"{HEAD}<title>Anonymity of {escape(title)}</title><style>{STYLE}</style></head>"
        f"<body>{heading}{''.join(parts)}</body></html>\n"
    )


def _made_part(made: Anonymized, limits: Limits, asked: Mapping[str, float]) -> str:
    share, part = as_percent(made.suppressed / made.rows), as_percent(made.information_lost)
    lost = [[escape(name), as_percent(part)] for name, part in made.lost.items()]
    wanted = ", ".join(f"{name} = {value:g}" for name, value in asked.items())
    verb = "was" if made.suppressed == 1 else "were"
    cost = (
        f"<p>Asked for: {wanted or 'nothing'}. {made.suppressed:,} of {plural_rows(made.rows)}"
        f" {verb} left out ({share}), and {part} of the information in the quasi-identifiers is"
        " lost.</p>"
    )
    table = _table(["quasi-identifier", "lost"], lost)
    return _about("The anonymous table", limits, asked, more=cost + table)


def _about(title: str, limits: Limits, asked: Mapping[str, float], *, more: str = "") -> str:
    anonymity = limits.anonymity
    names = escape(", ".join(anonymity.quasi_identifiers))
    columns = [_row(column) for column in anonymity.sensitive.values()]
    heads = ["sensitive", "l", "entropy l", "t", "t, ordered", "certain for"]
    whose = "" if anonymity.unit is None else f" of {plural_people(anonymity.people)}"
    return (
        f"<h2>{title}</h2><p>{plural_rows(anonymity.rows)}{whose} in"
        f" {plural(anonymity.groups, 'group')} of the same {names}."
        f" <strong>k = {anonymity.k:,}</strong>; {anonymity.unique_ones}."
        f"</p>{_risk(anonymity.risk)}{more}{_table(heads, columns)}"
        f"<h3>{anonymity.counted.capitalize()} by the size of their group</h3>"
        f"{_sizes(anonymity, asked.get('k'))}{_exposure_part(limits)}"
    )


def _risk(risk: Risk) -> str:
    """Who looks for people, and how often they find the one they look for."""
    about = "about " if risk.is_estimate else ""
    return (
        "<p>The chance of being found, at most, by a prosecutor (who knows that a person is in the"
        f" table): {as_percent(risk.prosecutor)}; by a journalist (who does not):"
        f" {about}{as_percent(risk.journalist)}. A marketer, who wants as many as possible, finds"
        f" {about}{as_percent(risk.marketer)} of all.</p>"
    )


def _row(one: Diversity) -> list[str]:
    ordered = "" if one.t_ordered is None else f"{one.t_ordered:.3g}"
    numbers = [f"{one.l:,}", f"{one.entropy_l:.3g}", f"{one.t:.3g}", ordered, f"{one.certain:,}"]
    return [escape(one.column), *numbers]


def _sizes(found: Anonymity, k: float | None) -> str:
    """Bars by size: bad below the k that was asked for; without one, those who are alone."""
    starts = sorted({*SIZES, int(k or 1)})
    ends = [*(start - 1 for start in starts[1:]), None]
    bars: list[ShareBar] = []
    for low, high in zip(starts, ends, strict=True):
        rows = sum(s * n for s, n in found.sizes() if s >= low and (high is None or s <= high))
        good = "plain" if k is None else "good"
        bars.append(ShareBar(_size(low, high), rows, "bad" if low < (k or 2) else good))
    return shares_svg(bars, most=int(found.group_sizes.sum()))


def _size(low: int, high: int | None) -> str:
    if high is None:
        return f"{low} or more"
    return "alone" if high == 1 else f"{low}" if high == low else f"{low} to {high}"


def _exposure_part(limits: Limits) -> str:
    parts: list[str] = []
    for name, exposure in limits.exposures.items():
        known = zip(FACTS, exposure.known, strict=True)
        bars = [ShareBar(*fact, "bad") for fact in known]
        bars.append(ShareBar("a private release instead", 0, "good"))
        parts.append(
            f"<h3>{exposure.counted.capitalize()} whose {escape(name)} is certain, if somebody"
            " knows their group and&nbsp;…</h3>" + shares_svg(bars, most=exposure.people)
        )
    return "".join(parts)


def _beside(limits: Limits) -> str:
    head = "<h2>What this does not promise</h2>"
    words = f"<p>{escape(WHY)}</p><p>{escape(str(limits.beside))}</p>"
    if not limits.beside.rows:
        return head + words
    names = list(limits.beside.rows[0])
    shown = [
        [f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row.values()]
        for row in limits.beside.rows
    ]
    cells = [[escape(cell) for cell in row] for row in shown]
    return f"{head}{words}{_table([escape(name) for name in names], cells)}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide" tabindex="0">{table}</div>'
