"""What was asked, in the few words that stand above a picture: count and mean of cost by ward.

From the stored plan, which is public.

  Tested:   tests/answers/test_titles.py
"""

from collections.abc import Mapping, Sequence
from typing import cast

from letalone.plans.formulas import facts_of_stored
from letalone.plans.wording import and_words
from letalone.privacy.curve import Json

LONGEST = 200  # a picture breaks it into lines


def title_of(plan: Json, keys: Sequence[str]) -> str:
    """The aggregates and the group columns; what is filtered or bounded is not said here."""
    listed = cast("list[list[object]]", plan.get("aggregates", []))
    words = list(dict.fromkeys(_aggregate(cast("Json", node)) for _, node in listed)) or ["answer"]
    by = f" by {and_words(list(keys))}" if keys else ""
    said = and_words(words) + by
    return said if len(said) <= LONGEST else said[: LONGEST - 1] + "…"


def _aggregate(node: Json) -> str:
    facts = facts_of_stored(node)
    word = str(node.get("node")).lower() if facts is None else facts.title(node)
    of = node.get("of")
    if not isinstance(of, Mapping):
        return word
    name = cast("Json", of).get("name")
    return f"{word} of {name}" if isinstance(name, str) else word
