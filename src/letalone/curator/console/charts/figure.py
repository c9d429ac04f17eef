"""A chart with its caption, and its numbers beneath as a table."""

from collections.abc import Sequence

from markupsafe import Markup, escape


def figure(
    chart: Markup, *, caption: str, heads: Sequence[str] = (), rows: Sequence[Sequence[str]] = ()
) -> Markup:
    """The chart; with rows, a table that opens, for whoever would rather read numbers."""
    table = _table(caption, heads, rows) if rows else Markup("")
    words = Markup("<figcaption>{}</figcaption>").format(caption)
    return Markup('<figure class="chart-figure">{}{}{}</figure>').format(chart, words, table)


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    first = Markup("").join(Markup('<th scope="col">{}</th>').format(cell) for cell in heads)
    lines = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(_cell(n, cell) for n, cell in enumerate(row)))
        for row in rows
    )
    return Markup(
        "<details><summary>The numbers as a table</summary>"
        '<div class="table-box" tabindex="0" role="region" aria-label="{}"><table>'
        '<caption class="unseen">{}</caption>'
        "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div></details>"
    ).format(caption, caption, first, lines)


def _cell(index: int, words: str) -> Markup:
    if index == 0:
        return Markup('<th scope="row">{}</th>').format(words)
    return Markup('<td class="number">{}</td>').format(escape(words))
