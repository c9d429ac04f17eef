"""One page about a table: what was measured, what was made of it, who is exposed. With pictures.

The page is one file that fetches nothing, and holds numbers and names of columns, but no value of
the table.

  Tested:   tests/cli/test_anonymity.py
"""

from collections.abc import Sequence
from html import escape

from letalone.anonymity.anonymizing import Anonymized
from letalone.anonymity.exposure import WHY, Limits
from letalone.anonymity.measuring import Anonymity, Diversity

SIZES = ((1, 1), (2, 4), (5, 9), (10, 49), (50, None))
FACTS = ("nothing more", "one value that is wrong", "two values that are wrong")
LINE, BAR, GAP = 20, 10, 12  # pixels: a line of text, the bar below it, and what is left free
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
.bad{fill:var(--bad)}.good{fill:var(--good)}.track{fill:var(--track)}
@media(max-width:30rem){table{font-size:.85rem}th,td{padding:.3rem .25rem}}
"""
HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width,initial-scale=1">'
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
)


def page(title: str, found: Limits, made: tuple[Anonymized, Limits] | None = None) -> str:
    """The page: about a table and, where one was made of it, the anonymous one."""
    parts = [_about("The table as it is", found)]
    if made is not None:
        parts.append(_made(*made))
    parts.append(_beside(found))
    heading = f"<h1>How anonymous is {escape(title)}?</h1>"
    return (
        f"{HEAD}<title>Anonymity of {escape(title)}</title><style>{STYLE}</style></head>"
        f"<body>{heading}{''.join(parts)}</body></html>\n"
    )


def _made(made: Anonymized, limits: Limits) -> str:
    share = 100 * made.suppressed / made.rows
    lost = [[escape(name), f"{100 * part:.1f} %"] for name, part in made.lost.items()]
    part = f"{100 * made.information_lost:.1f} %"
    cost = (
        f"<p>{made.suppressed:,} of {made.rows:,} rows were left out ({share:.2g} %), and {part}"
        " of the information in the quasi-identifiers is lost.</p>"
    )
    table = _table(["quasi-identifier", "lost"], lost)
    return _about("The anonymous table", limits, more=cost + table)


def _about(title: str, limits: Limits, *, more: str = "") -> str:
    found = limits.anonymity
    names = escape(", ".join(found.quasi_identifiers))
    columns = [_row(one) for one in found.sensitive.values()]
    heads = ["sensitive", "l", "entropy l", "t", "t, ordered", "certain for"]
    whose = "" if found.unit is None else f" of {found.people:,} people"
    return (
        f"<h2>{title}</h2><p>{found.rows:,} rows{whose} in {found.groups:,} groups of the same"
        f" {names}. <strong>k = {found.k:,}</strong>; {found.uniques:,} {found.counted} are unique."
        f" Risk: {escape(str(found.risk))}.</p>{more}{_table(heads, columns)}"
        f"<h3>{found.counted.capitalize()} by the size of their group</h3>"
        f"{_sizes(found)}{_exposed(limits)}"
    )


def _row(one: Diversity) -> list[str]:
    ordered = "" if one.t_ordered is None else f"{one.t_ordered:.3f}"
    numbers = [f"{one.l:,}", f"{one.entropy_l:.2f}", f"{one.t:.3f}", ordered, f"{one.certain:,}"]
    return [escape(one.column), *numbers]


def _sizes(found: Anonymity) -> str:
    bars: list[tuple[str, int]] = []
    for low, high in SIZES:
        rows = sum(s * n for s, n in found.sizes() if s >= low and (high is None or s <= high))
        name = "alone" if high == 1 else f"{low} or more" if high is None else f"{low} to {high}"
        bars.append((name, rows))
    return _bars(bars, most=int(found.group_sizes.sum()), bad=1)


def _exposed(limits: Limits) -> str:
    parts: list[str] = []
    for name, one in limits.exposures.items():
        bars = [*zip(FACTS, one.known, strict=True), ("a private release instead", 0)]
        parts.append(
            f"<h3>People whose {escape(name)} is certain, to who knows their group and&nbsp;…</h3>"
            + _bars(bars, most=one.people, bad=len(FACTS))
        )
    return "".join(parts)


def _beside(limits: Limits) -> str:
    head = "<h2>What this does not promise</h2>"
    words = f"<p>{escape(WHY)}</p><p>{escape(str(limits.beside))}</p>"
    if not limits.beside.rows:
        return head + words
    names = list(limits.beside.rows[0])
    cells = [[escape(_shown(row[name])) for name in names] for row in limits.beside.rows]
    return f"{head}{words}{_table([escape(name) for name in names], cells)}"


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _bars(bars: Sequence[tuple[str, int]], *, most: int, bad: int) -> str:
    """Bars below their names and numbers; the first ones, so many, are bad news.

    Lengths are shares of the width, and letters have their size on every screen.
    """
    shapes: list[str] = []
    for place, (name, value) in enumerate(bars):
        top, wide = place * (LINE + BAR + GAP), 100 * value / max(most, 1)
        kind, low = "bad" if place < bad else "good", top + LINE
        bar = f'y="{low}" height="{BAR}" rx="2"'
        shapes.append(
            f'<text x="0" y="{low - 5}">{escape(name)}</text>'
            f'<text x="100%" y="{low - 5}" text-anchor="end">{value:,}</text>'
            f'<rect class="track" width="100%" {bar}/>'
            f'<rect class="{kind}" width="{wide:.2f}%" {bar}/>'
        )
    said = "; ".join(f"{name}: {value:,}" for name, value in bars)
    height = len(bars) * (LINE + BAR + GAP) - GAP
    return f'<svg height="{height}" role="img" aria-label="{escape(said)}">{"".join(shapes)}</svg>'


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    whole = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide" tabindex="0">{whole}</div>'
