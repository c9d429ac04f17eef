"""A compiled plan in words: what is asked, what it costs, how that is split. No data is seen."""

from letalone.tables.compiled import Compiled, Share


def explained(whole: Compiled) -> list[str]:
    """The question, the price and its parts, a line each."""
    sure = f"{100 * whole.confidence:g} %"
    return [
        whole.plan.in_words(),
        f"Costs {whole.privacy}.",
        *(_in_words(part, sure) for part in whole.parts),
        "Intervals are for the bounded aggregate: rows beyond a unit's bound do not count in it.",
    ]


def _in_words(part: Share, sure: str) -> str:
    known = [f"{name} ± {error:.4g}" for name, error in part.errors.items() if error is not None]
    errors = f"; {', '.join(known)} at {sure}" if known else ""
    return f"{part.name}: {float(100 * part.share):.3g} % of ε; {part.words}; {part.groups}{errors}"
