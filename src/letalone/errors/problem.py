"""What went wrong, as data: a code, public facts, remedies and what else is wrong.

A fact is public: a name, a number, a budget, a list of columns, a place in the SQL that was typed.
It is never a cell, a unit's value or an engine's words. The remedies of one problem are
alternatives, the best first: any of them would do. `others` are problems of their own, each of
which has to be remedied as well. A face (Python, options, HTTP) puts a problem into its own words;
nobody reads a problem back from words.

  Tested:   tests/errors
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeVar, dataclass_transform

from letalone.errors.codes import Code

Result = TypeVar("Result")
FaceName = Literal["python", "options", "http"]


class Argument(str):
    """The Python name of an argument (`max_rows`), which each face spells as its own."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Spelled:
    """Words that differ between faces; those that are not given are Python's."""

    python: str
    options: str | None = None
    http: str | None = None

    def on(self, face: FaceName) -> str:
        words = getattr(self, face)
        return self.python if words is None else words


# A name, a number, a budget (letalone.privacy.Budget), a list of these, or words of each face.
Fact = Any


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True)
class Remedy:
    """A change that would help, as data: each is a frozen dataclass. Each face words it, and the
    command line applies it."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


@dataclass(frozen=True, slots=True)
class Problem:
    """What went wrong. `words` are a finished sentence in place of the code's own.

    `advised`: the words say what would help, too, so no face adds its own words for the remedies.
    """

    code: Code
    facts: Mapping[str, Fact] = field(default_factory=dict[str, Fact])
    remedies: tuple[Remedy, ...] = ()
    others: tuple["Problem", ...] = ()
    words: str | Spelled | None = None
    advised: bool = False


def problem(
    code: Code,
    *remedies: Remedy,
    words: str | Spelled | None = None,
    others: tuple[Problem, ...] = (),
    **facts: Fact,
) -> Problem:
    """A problem, to raise: `raise ParameterError(problem(Code.MISSING_KEYS, FindKeys(), …))`."""
    return Problem(code, facts, remedies, others, words)


@dataclass(frozen=True, slots=True)
class Face:
    """How one face words things: its name, how it spells an argument, and its remedies.

    `remedies` has for each class a template of the remedy's fields, or a function of the remedy;
    a class that is missing there is not worded on this face.
    """

    name: FaceName
    argument: Callable[[str], str]
    remedies: Mapping[type[Remedy], str | Callable[[Any], str]]

    def say(self, what: Problem) -> str:
        """The whole of a problem: what is wrong, what would help, and what else is wrong."""
        advice = () if what.advised else map(self.advise, what.remedies)
        parts = [self.state(what), *advice]
        parts += [self.say(other) for other in what.others]
        return " ".join(part for part in parts if part)

    def state(self, what: Problem) -> str:
        """What is wrong and what is allowed, without the remedies."""
        if what.words is not None:
            return self.spell(what.words)
        spelled = {name: self.spell(fact) for name, fact in what.facts.items()}
        return what.code.template.format_map(_Blank(spelled)).rstrip()

    def advise(self, remedy: Remedy) -> str:
        """A remedy in words; "" where this face has none for it."""
        words = self.remedies.get(type(remedy), "")
        if callable(words):
            return words(remedy)
        parts = {part.name: self.spell(getattr(remedy, part.name)) for part in fields(remedy)}
        return words.format_map(_Blank(parts))

    def spell(self, fact: Fact) -> str:
        """A fact as it stands in a sentence."""
        match fact:
            case Argument():
                return self.argument(str(fact))
            case Spelled():
                return fact.on(self.name)
            case tuple() | list():
                return ", ".join(self.spell(item) for item in fact)  # pyright: ignore[reportUnknownVariableType]
            case float():
                return f"{fact:g}"
            case None:
                return ""
            case _:
                return str(fact)


class _Blank(dict[str, str]):
    """A fact that is not there is left out of the sentence."""

    def __missing__(self, key: str) -> str:
        return ""


def without_context(
    run: Callable[[], Result],
    *kinds: type[BaseException],
    error: BaseException | Callable[[Any], BaseException],
) -> Result:
    """What `run` returns; an exception of these kinds becomes `error`, and nothing of it goes on.

    It is a function because `raise … from None` within `except`, and a context manager, would keep
    the first exception as the context, with what it says of the data. `error` may be a function of
    the exception, for what is public in it.
    """
    try:
        return run()
    except kinds as caught:
        raised = error if isinstance(error, BaseException) else error(caught)
    raise raised
