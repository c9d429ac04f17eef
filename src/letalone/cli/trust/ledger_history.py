"""`letalone ledger history`: the questions asked, when, for which ε, and what became of them.

What was asked is from the stored plan, which is public. No answer is shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

from letalone.answers.shown import title_of
from letalone.cli import screen
from letalone.cli.trust.ledger_commands import open_ledger
from letalone.errors import LetaloneError
from letalone.exact.typed import read_rational
from letalone.ledger import Ledger
from letalone.ledger.chain.entries import Entry, EntryKind
from letalone.plans.stored_plans import plan_from_json
from letalone.privacy.bounds import above, six
from letalone.privacy.budget import Budget
from letalone.privacy.curve import Json
from letalone.privacy.filters import as_budget
from letalone.privacy.stored import from_json

MAX_ROWS = 6  # on a screen, each of a few lines
MAX_LETTERS = 120  # of a question on a screen
DAMAGE = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError)
OUTCOMES = {"released": "answered", "failed": "failed, spent"}
UNSETTLED = "not finished, spent"


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One line of the history; ε and δ are None where a question was refused.

    `question` is short, and `in_words` has its filter and groups, too.
    """

    entry: int
    time: str
    data_set: str | None
    question: str
    in_words: str
    epsilon: float | None
    delta: float | None
    epsilon_exact: str | None
    delta_exact: str | None
    status: str
    analyst: str | None
    purpose: str | None
    digest: str


def history(path: str, name: str | None, *, as_json: bool) -> None:
    """Print the questions about a data set, or about all, the newest last."""
    with open_ledger(path, "history") as ledger:
        questions = list_questions(ledger, name)
    if as_json:
        screen.print_json("ledger history", {"questions": [asdict(q) for q in questions]})
        return
    if not questions:
        screen.put("No question was asked yet.")
        return
    shown = questions[-MAX_ROWS:] if screen.is_terminal() else questions
    screen.put(
        screen.table("time (UTC)", "question", "ε", "δ", "status", rows=map(_cells, shown)),
        *[f"and {len(questions) - len(shown)} earlier: --json lists all"]
        * (len(shown) < len(questions)),
    )
    screen.say("A question that was answered before is free and is not listed again.")


def list_questions(ledger: Ledger, name: str | None = None) -> list[AskedQuestion]:
    """All charges and refusals of a ledger, in their order."""
    if name is not None:
        ledger.data_set(name)  # or says which there are
    entries = ledger.entries(name)
    ended = {
        cast("int", entry.body["reserved"]): OUTCOMES[str(entry.body["outcome"])]
        for entry in entries
        if entry.kind is EntryKind.SETTLED
    }
    questions = {entry.digest: _question(entry) for entry in entries if entry.digest is not None}
    kinds = (EntryKind.RESERVED, EntryKind.REFUSED)
    return [_read(entry, ended, questions) for entry in entries if entry.kind in kinds]


def _read(
    entry: Entry, ended: Mapping[int, str], questions: Mapping[str, tuple[str, str]]
) -> AskedQuestion:
    body = entry.body
    digest = str(body["digest"])
    price = _price(entry) if entry.kind is EntryKind.RESERVED else None
    refused = f"refused ({_reason(str(body.get('reason')))})"
    return AskedQuestion(
        entry.number,
        entry.time,
        entry.name,
        *questions.get(digest, ("", "")),
        None if price is None else float(above(price.epsilon)),
        None if price is None else float(above(price.delta)),
        None if price is None else str(price.epsilon),
        None if price is None else str(price.delta),
        refused if price is None else ended.get(entry.number, UNSETTLED),
        cast("str | None", body.get("analyst")),
        cast("str | None", body.get("purpose")),
        digest,
    )


def _price(entry: Entry) -> Budget | None:
    privacy = from_json(cast("Json", entry.body["privacy"]))
    return as_budget(privacy, read_rational(str(entry.body["delta"])))


def _reason(error: str) -> str:
    return {"BudgetExceeded": "budget", "DataSetFrozen": "frozen"}.get(error, error)


def _question(entry: Entry) -> tuple[str, str]:
    """What was asked, in a few words and in all: a plan of another kind has its kind alone."""
    plan = cast("Json", entry.body.get("plan") or {})
    several = cast("Sequence[Json]", plan.get("questions") or ())
    if several:
        return str(plan.get("kind") or ""), "; and ".join(map(_in_words, several))
    if "aggregates" not in plan:
        return (kind := str(plan.get("kind") or "")), kind
    listed = cast("Sequence[Json]", plan.get("groups") or ())
    return title_of(plan, [str(group.get("name")) for group in listed]), _in_words(plan)


def _in_words(plan: Json) -> str:
    """The question with its filter and groups; of a plan that is not read any more, nothing."""
    try:
        return plan_from_json(plan).in_words()
    except (LetaloneError, *DAMAGE):
        return ""


def _cells(asked: AskedQuestion) -> tuple[str, ...]:
    amounts = [
        "" if part is None else six(read_rational(part))
        for part in (asked.epsilon_exact, asked.delta_exact)
    ]
    time = asked.time.replace("T", " ").removesuffix("Z")[:-3]
    return (time, _short(asked.in_words or asked.question), *amounts, asked.status)


def _short(words: str) -> str:
    return words if len(words) <= MAX_LETTERS else f"{words[: MAX_LETTERS - 1]}…"
