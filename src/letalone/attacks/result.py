"""Defines what every attack returns: numbers, lines to compare, a paragraph and a picture.

A report is a frozen record. It lists the numbers for programs by name, in `_json`, and draws what
`_picture` describes; so one page and one command show any of them.

  Tested:   tests/attacks/test_results.py, test_picture.py, tests/golden (the JSON of each attack)
"""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, ClassVar, cast

from letalone.answers.promise import most_caught
from letalone.drawing import Chart, plot, to_html
from letalone.privacy import PureDP

Line = tuple[str, str, str]  # what was measured; published today; through letalone


def beyond_line(private: bool, today: bool | None = None) -> Line:
    """Whether more is given away than was promised; `today` where it was measured."""
    words = {True: "yes", False: "no", None: ""}
    return "beyond the bound (95 % confidence)", words[today], words[private]


class Numbers:
    """A record with `to_json`: the attributes that `_json` lists.

    An entry is the name of an attribute, or `name=attribute` where programs know it by another. A
    method stands for what it returns without arguments.
    """

    __slots__ = ()
    _json: ClassVar[str]

    def to_json(self) -> dict[str, object]:
        """The numbers, for programs."""
        return _listed_numbers(self, self._json)


class AttackReport(Numbers):
    """The result of an attack.

    It is no ABC, whose `register` would become the default of a field of that name.
    """

    __slots__ = ()
    epsilon: float  # of the private release next to it

    @property
    def words(self) -> str:
        """A paragraph for a privacy officer."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.words

    def lines(self) -> list[Line]:
        """The numbers to compare: at most a dozen."""
        raise NotImplementedError

    def _picture(self) -> Chart:
        raise NotImplementedError

    @property
    def _most_caught(self) -> float:
        """D6: how often a person is found at ε and 5 % false alarms, at most."""
        return most_caught(PureDP(self.epsilon))

    @property
    def _limit_label(self) -> str:
        return f"the most that ε = {self.epsilon:g} allows"

    def plot(self, path: object = None) -> Any:
        """A matplotlib figure, written to a file where a path is given."""
        return plot(self._picture(), path)

    def _repr_html_(self) -> str:
        return to_html(self._picture(), self.words)


def _listed_numbers(record: object, listed: str) -> dict[str, object]:
    entries = [entry.partition("=") for entry in listed.split()]
    return {name: _plain(attrgetter(path or name)(record)) for name, _, path in entries}


def _plain(value: object) -> object:
    """A value as JSON has it: records as their numbers, tuples as lists, keys as text."""
    if callable(value):
        return _plain(value())
    listed: str | None = getattr(value, "_json", None)
    if listed is not None:
        return _listed_numbers(value, listed)
    if isinstance(value, tuple):
        return [_plain(part) for part in cast("tuple[object, ...]", value)]
    if isinstance(value, Mapping):
        parts = cast("Mapping[object, object]", value)
        return {str(name): _plain(part) for name, part in parts.items()}
    return value
