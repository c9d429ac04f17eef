"""A question about a table elsewhere: made here from the public schema, answered there.

What is sent is the plan, and what comes back is a signed release: the answer is read from its
receipt, after the signature was checked and after it was found to answer this very question.

  Tested:   tests/client/test_sessions.py, test_receipts.py
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from letalone.answers.arranged import arrange_release
from letalone.answers.release import SplitPart, Standing
from letalone.client.listing import DAMAGE
from letalone.errors import FormatError
from letalone.errors.problem import without_context
from letalone.exact.typed import CONFIDENCE, COUNT, DELTA, EPSILON, ERROR, Number
from letalone.ledger.chain.receipts import verify_receipt
from letalone.plans.plan import Plan
from letalone.privacy.stored import from_json
from letalone.session.backend import PricedQuestion
from letalone.session.release import Release, releases_from
from letalone.wire.json_values import read_amount

if TYPE_CHECKING:
    from letalone.answers.preview import Preview
    from letalone.client.remote_table import RemoteTable

Json = dict[str, Any]
READ = {"epsilon": EPSILON, "delta": DELTA, "confidence": CONFIDENCE, "rows": COUNT, "error": ERROR}
OTHER_ANSWER = "The service answered another question than the one that was asked. Tell its owner."


@dataclass(frozen=True, slots=True)
class RemotePriced(PricedQuestion):
    """A question to a service at a price: each look and the answer is a request."""

    table: "RemoteTable"
    plan: Plan
    epsilon: Number
    delta: Number
    confidence: Number

    def preview(self, rows: int | None = None) -> "Preview":
        """The price, its split and the errors to expect: no data touched, nothing spent."""
        more = {} if rows is None else {"rows": rows}
        answer = self._ask("preview", self._price | more, left=True)
        damaged = "The preview cannot be read. Update the older of client and service."
        return without_context(lambda: _read_preview(answer), *DAMAGE, error=FormatError(damaged))

    def explain(self, *, sql: bool = False) -> str:
        """The question, its price and its split in words, and the SQL."""
        return str(self._ask("explanation", self._price, show_sql=sql)["words"])

    def how_many_more(self) -> int | float:
        """About how many more such questions fit, at the data set, the purpose and the grant."""
        price = {"epsilon": self.epsilon, "delta": self.delta}
        more = self._ask("fitting", price)["how_many_more"]
        return int(more) if isinstance(more, int) else float(more)

    def release(self) -> Release:
        """The answer, read from its receipt; the same question again is free."""
        more = {"confirm": True} if self.confirmed else {}
        answer = self._ask("release", self._price, left=True, **more)
        release = read_signed(answer, public_key=self.table.public_key)
        _check_answers(release, self.plan, self._price)
        from letalone.session.notes import unusual_notes  # what only opens a client does not need

        warnings = unusual_notes(release.notes, self.plan)
        standing = replace(
            release.standing, remark=self.remark, row_limit=self.row_note, warnings=warnings
        )
        remarked = replace(release, standing=standing)
        return arrange_release(remarked, self.arrangement)

    @property
    def _price(self) -> dict[str, Number]:
        return {"epsilon": self.epsilon, "delta": self.delta, "confidence": self.confidence}

    def _ask(self, what: str, price: Mapping[str, Number], **more: object) -> Json:
        return self.table.ask(what, self.plan, price, **more)


def exact_digits(name: str, number: Number) -> str | int:
    """A number by its exact digits, checked in the words that a local table has."""
    exact = READ[name].typed(name, number)
    return int(exact) if name == "rows" else str(exact)


def read_signed(said: Json, *, public_key: str | None) -> Release:
    """The release in a receipt, if the receipt is as it was signed."""
    receipt = cast("Json", said.get("receipt"))
    stored = verify_receipt(receipt, public_key=public_key).body["release"]
    remaining, repeated = said.get("left"), said.get("repeated") is True
    standing = Standing(left=remaining, repeated=repeated, receipt=receipt)
    releases = releases_from(cast("Json", stored), standing)
    if len(releases) != 1:
        raise FormatError(OTHER_ANSWER)
    return releases[0]


def _check_answers(release: Release, plan: Plan, price: Mapping[str, Number]) -> None:
    terms = release.asked
    same = [
        getattr(terms, name) == READ[name].typed(name, number) for name, number in price.items()
    ]
    if terms.data_set != plan.schema.name or terms.plan != plan.to_json() or not all(same):
        raise FormatError(OTHER_ANSWER)


def _read_preview(said: Json) -> "Preview":
    from letalone.answers.preview import Preview

    return Preview(
        privacy=from_json(said["privacy"]),
        epsilon=float(said["epsilon"]),
        delta=float(said["delta"]),
        confidence=float(said["confidence"]),
        columns=tuple(said["columns"]),
        split=tuple(
            SplitPart(part["name"], read_amount(part["share"]), part["noise"], part["groups"])
            for part in said["split"]
        ),
        errors={
            name: None if item is None else float(item) for name, item in said["errors"].items()
        },
        question=str(said["question"]),
        notes=tuple(said["notes"]),
        left=str(said["left"]),
        in_rows=frozenset(said["in_rows"]),
        alone={name: float(item) for name, item in said["alone"].items()},
        warnings=tuple(said["warnings"]),
        formulas=frozenset(said["formulas"]),
        fitted=frozenset(said["fitted"]),
    )
