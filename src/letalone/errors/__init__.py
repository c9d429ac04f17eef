"""Everything that letalone raises.

LetaloneError
├── ParameterError (also a ValueError)   an argument is outside what is allowed
├── BudgetExceeded                       the answer would cost more than is left
├── DataSetFrozen                        nothing is answered until the owner acts
├── NotAllowed                           a purpose or a grant is missing, over or withdrawn
├── UnsupportedQuery                     a question with no proven private answer
├── NeighboursDiffer                     two guarantees speak of different neighbours
├── LedgerUnavailable                    the ledger cannot be read or written now
├── ServiceUnavailable                   a service cannot be reached, or fails
└── FormatError                          a stored file is damaged or newer than this letalone
    └── LedgerDamaged                    a ledger or a receipt was changed

PrivacyWarning (a UserWarning)           allowed, but it promises less than it seems to

An error is facts: a code, public facts and remedies (`letalone.errors.problem`), which each face
puts into its own words. `str(error)` is Python's: what was wrong, what is allowed and how to fix
it, in that order. It never contains a private value. An error that is raised with a finished
sentence has the code of its class, OTHER for most. Each class names the exit code of the command
line and the problem type of a service.

Codes, problems and renderers are loaded when an error is made or asked, not with this module.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from letalone.errors.codes import Code
    from letalone.errors.problem import Fact, Problem, Remedy
    from letalone.privacy.budget import Budget


BUDGET_FACTS = ("spent", "asked", "left", "level", "fits")


class LetaloneError(Exception):
    """The root of every error of letalone.

    Programs read its `code`, the public `facts` and the `remedies`; people read `str(error)`.
    """

    exit_code = 1
    problem_type = "parameter"
    default_code = "OTHER"  # of an error that is raised with a finished sentence
    _problem: "Problem | None" = None

    def __init__(self, message: "str | Problem" = "") -> None:
        super().__init__(message if isinstance(message, str) else self._say(message))

    def _say(self, problem: "Problem") -> str:
        from letalone.errors.in_python import PYTHON

        self._problem = problem
        return PYTHON.say(problem)

    @property
    def problem(self) -> "Problem":
        """All that is known of it, as data."""
        if self._problem is not None:
            return self._problem
        from letalone.errors.codes import Code
        from letalone.errors.problem import Problem

        return Problem(Code[self.default_code], self._fields(), words=str(self), advised=True)

    def _fields(self) -> "dict[str, Fact]":
        """The facts that the class has as attributes."""
        return {}

    @property
    def code(self) -> "Code":
        """What went wrong: a member of `letalone.errors.codes.Code`."""
        return self.problem.code

    @property
    def facts(self) -> "Mapping[str, Fact]":
        """Public facts about it, by name."""
        return self.problem.facts

    @property
    def remedies(self) -> "tuple[Remedy, ...]":
        """What would help, as records, the best first."""
        return self.problem.remedies

    def with_words(self, words: str) -> Self:
        """The same error, with all its fields, and this as its whole message."""
        again = copy(self)
        again._problem = replace(self.problem, words=words, advised=True)
        again.args = (words,)
        return again

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles keep every field, whatever the class takes when it is made."""
        return _rebuild, (type(self), self.args, dict(self.__dict__))


def _rebuild(kind: type[LetaloneError], args: tuple[Any, ...], fields: dict[str, Any]) -> Any:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


class ParameterError(LetaloneError, ValueError):
    """An argument is outside what is allowed; nothing was spent."""

    exit_code = 2


class BudgetExceeded(LetaloneError):  # noqa: N818  (a public promise, and a better sentence)
    """The answer would cost more privacy than is left; nothing was spent.

    It says what was `spent` before, what was `asked` for (None where no epsilon is enough) and
    what is `left`, where that is known; `budget - cost` spends from the budget, all of which is
    left. Where a purpose or an analyst has too little left, and not the data set, `level` names
    which. `fits` is the most that the same may cost to be answered now, where that is known.
    """

    exit_code = 3
    problem_type = "budget-exceeded"
    default_code = "BUDGET_EXCEEDED"

    def __init__(
        self,
        message: "str | Problem" = "",
        *,
        spent: "Budget | None" = None,
        asked: "Budget | None" = None,
        left: "Budget | None" = None,
        level: str | None = None,
    ) -> None:
        given = {"spent": spent, "asked": asked, "left": left, "level": level}
        facts: Mapping[str, Any] = {name: fact for name, fact in given.items() if fact is not None}
        if not isinstance(message, str):
            message = replace(message, facts={**message.facts, **facts})
            facts = message.facts
        self.spent: Budget | None = facts.get("spent")
        self.asked: Budget | None = facts.get("asked")
        self.left: Budget | None = facts.get("left")
        self.level: str | None = facts.get("level")
        self.fits: Budget | None = facts.get("fits")
        super().__init__(message)

    def _fields(self) -> "dict[str, Fact]":
        fields = {name: getattr(self, name) for name in BUDGET_FACTS}
        return {name: value for name, value in fields.items() if value is not None}


class DataSetFrozen(LetaloneError):  # noqa: N818
    """The data set is frozen: nothing is answered about it until its owner acts.

    `fact` is what the message says without `remedy`, which is what an owner types.
    """

    exit_code = 5
    problem_type = "data-set-frozen"
    default_code = "DATA_SET_FROZEN"

    def __init__(self, message: "str | Problem" = "", *, remedy: "str | Remedy" = "") -> None:
        if isinstance(message, str) and not isinstance(remedy, str):
            from letalone.errors.codes import Code
            from letalone.errors.problem import Problem

            message = Problem(Code[self.default_code], remedies=(remedy,), words=message)
        if isinstance(message, str):
            super().__init__(f"{message} {remedy}".rstrip())
            self.fact, self.remedy = message, str(remedy)
        else:
            from letalone.errors.in_python import PYTHON

            super().__init__(message)
            self.fact = PYTHON.state(message)
            self.remedy = str(self).removeprefix(self.fact).lstrip()


class NotAllowed(LetaloneError):  # noqa: N818
    """Who asks, or what for, has no share of the budget that holds now; nothing was spent."""

    exit_code = 5
    problem_type = "not-granted"
    default_code = "NOT_ALLOWED"


class UnsupportedQuery(LetaloneError):  # noqa: N818
    """No private answer with a proof is known for this question; nothing was spent."""

    exit_code = 4
    problem_type = "unsupported-query"
    default_code = "NO_PRIVATE_ANSWER"


class NeighboursDiffer(LetaloneError):  # noqa: N818
    """Two guarantees protect against different changes and cannot be combined."""

    exit_code = 4
    problem_type = "neighbours-differ"
    default_code = "NEIGHBOURS_DIFFER"


class FormatError(LetaloneError, ValueError):
    """A stored file is damaged, or was written by a newer letalone."""

    exit_code = 2
    problem_type = "format"
    default_code = "DAMAGED"


class LedgerDamaged(FormatError):  # noqa: N818
    """A ledger or a receipt is not as it was written: rely on nothing in it."""

    exit_code = 6
    problem_type = "ledger-damaged"
    default_code = "LEDGER_DAMAGED"


class LedgerUnavailable(LetaloneError):  # noqa: N818
    """The ledger cannot be read or written now, so nothing is released."""

    problem_type = "ledger-unavailable"
    default_code = "LEDGER_UNAVAILABLE"


class ServiceUnavailable(LetaloneError):  # noqa: N818
    """A service cannot be reached, does not answer in time, or fails."""

    problem_type = "service-unavailable"
    default_code = "SERVICE_UNAVAILABLE"


class PrivacyWarning(UserWarning):
    """A setting is allowed, but promises less than it seems to."""
