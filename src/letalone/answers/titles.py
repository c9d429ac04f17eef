"""What was asked, in the few words that stand above a picture: count and mean of cost by ward.

From the stored plan, which is public.

  Tested:   tests/answers/test_titles.py
"""

from collections.abc import Mapping, Sequence
from typing import cast

from letalone.privacy.curve import Json

WORDS = {
    "Count": "count",
    "CountUnits": "number of units",
    "CountPresent": "count",
    "Formula": "formula",
    "CountValues": "number of values",
    "Sum": "sum",
    "Mean": "mean",
    "Variance": "variance",
    "Deviation": "standard deviation",
    "Covariance": "covariance",
    "Correlation": "correlation",
    "Slope": "slope",
    "Regression": "regression",
    "Quantiles": "quantiles",
    "Histogram": "histogram",
    "TopK": "most frequent",
    "PrivateBounds": "bounds",
}
LONGEST = 200  # a picture breaks it into lines


def title_of(plan: Json, keys: Sequence[str]) -> str:
    """The aggregates and the group columns; what is filtered or bounded is not said here."""
    listed = cast("list[list[object]]", plan.get("aggregates", []))
    words = list(dict.fromkeys(_aggregate(cast("Json", node)) for _, node in listed)) or ["answer"]
    by = f" by {_and(list(keys))}" if keys else ""
    said = _and(words) + by
    return said if len(said) <= LONGEST else said[: LONGEST - 1] + "…"


def _aggregate(node: Json) -> str:
    kind = str(node.get("node"))
    end = "largest" if node.get("largest") else "smallest"
    word = end if kind == "Extreme" else WORDS.get(kind, kind.lower())
    of = node.get("of")
    if not isinstance(of, Mapping):
        return word
    name = cast("Json", of).get("name")
    return f"{word} of {name}" if isinstance(name, str) else word


def _and(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
