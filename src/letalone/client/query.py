"""A question about a table elsewhere: made here from the public schema, answered there.

What is sent is the plan, and what comes back is a signed release: the answer is read from its
receipt, after the signature was checked and after it was found to answer this very question.

  Tested:   tests/client/test_sessions.py, test_receipts.py
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, cast

from letalone.answers.release import SplitPart, Standing
from letalone.client.records import DAMAGE
from letalone.client.said import amount
from letalone.client.tables import RemoteTable, as_sent
from letalone.errors import FormatError, LetaloneError, UnsupportedQuery
from letalone.errors.problem import without_context
from letalone.exact.typed import CONFIDENCE, COUNT, DELTA, EPSILON, Number
from letalone.ledger import verify_receipt
from letalone.plans.query import Plan
from letalone.privacy.stored import from_json
from letalone.session.asking import Asking
from letalone.session.preview import Preview
from letalone.session.query import Query
from letalone.session.release import Release, releases_from

Json = dict[str, Any]
READ = {"epsilon": EPSILON, "delta": DELTA, "confidence": CONFIDENCE, "rows": COUNT}
OTHER_ANSWER = "The service answered another question than the one that was asked. Tell its owner."


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RemoteQuery(Query):
    """A question to a service; `.preview` shows its price, `.release` answers it."""

    table: RemoteTable

    def join(
        self,
        other: object,
        *,
        on: str | Sequence[str] | Mapping[str, str],
        name: str = "public",
        columns: Sequence[str] | None = None,
    ) -> Query:
        """The columns of a public table, which is sent along, or of a private one there."""
        if not isinstance(other, Asking):
            other = as_sent(other, name=name)
        return Asking.join(self, other, on=on, name=name, columns=columns)

    def preview(
        self,
        epsilon: Number,
        delta: Number = 0,
        *,
        confidence: Number = 0.95,
        rows: int | None = None,
    ) -> Preview:
        """The price, its split and the errors to expect: no data touched, nothing spent."""
        price = {"epsilon": epsilon, "delta": delta, "confidence": confidence}
        more = {} if rows is None else {"rows": rows}
        return _read_preview(
            asked_of(self.table, self.plan, {**price, **more}, "preview", left=True)
        )

    def explain(
        self,
        epsilon: Number | None = None,
        *,
        delta: Number = 0,
        confidence: Number = 0.95,
        sql: bool = False,
    ) -> str:
        """The question in words; with an epsilon also its price and its split, and the SQL."""
        if epsilon is None:
            return Query.explain(self)
        price = {"epsilon": epsilon, "delta": delta, "confidence": confidence}
        found = asked_of(self.table, self.plan, price, "explanation", show_sql=sql)
        return str(found["words"])

    def train(self, *_: object, **__: object) -> NoReturn:
        """Refused: a model is trained where the rows are."""
        raise UnsupportedQuery(
            "A service answers questions and trains no models. Ask for what the model needs, such"
            " as la.linear_regression, or train it where the data is."
        )

    def _answer(self, plan: Plan, price: Mapping[str, Number], *, remark: str | None) -> Release:
        said = asked_of(self.table, plan, price, "release", left=True)
        release = signed(said, public_key=self.table.public_key)
        _check_answers(release, plan, price)
        return replace(release, standing=replace(release.standing, remark=remark))


def asked_of(
    table: RemoteTable, plan: Plan, price: Mapping[str, Number], what: str, **more: object
) -> Json:
    """What the service says about a question at a price."""
    table.check_open()
    body = {
        "data_set": table.name,
        "purpose": table.purpose,
        "plan": plan.to_json(),
        **{name: _sent(name, number) for name, number in price.items()},
        **table.sent_with(plan),
        **more,
    }
    post = table.link.post_once if what == "release" else table.link.post
    return post(f"/questions/{what}", body)


def _sent(name: str, number: Number) -> str | int:
    """A number by its exact digits, checked in the words that a local table has."""
    found = READ[name].typed(name, number)
    return int(found) if name == "rows" else str(found)


def signed(said: Json, *, public_key: str | None) -> Release:
    """The release in a receipt, if the receipt is as it was signed."""
    receipt = cast("Json", said.get("receipt"))
    stored = verify_receipt(receipt, public_key=public_key).body["release"]
    left, repeated = said.get("left"), said.get("repeated") is True
    standing = Standing(left=left, repeated=repeated, receipt=receipt)
    found = releases_from(cast("Json", stored), standing)
    if len(found) != 1:
        raise FormatError(OTHER_ANSWER)
    return found[0]


def _check_answers(release: Release, plan: Plan, price: Mapping[str, Number]) -> None:
    asked = release.asked
    same = [getattr(asked, name) == READ[name].typed(name, one) for name, one in price.items()]
    if asked.data_set != plan.schema.name or asked.plan != plan.to_json() or not all(same):
        raise FormatError(OTHER_ANSWER)


def _read_preview(said: Json) -> Preview:
    return without_context(
        lambda: _preview(said),
        LetaloneError,
        *DAMAGE,
        error=FormatError("The preview cannot be read. Update the older of client and service."),
    )


def _preview(said: Json) -> Preview:
    return Preview(
        privacy=from_json(said["privacy"]),
        epsilon=float(said["epsilon"]),
        delta=float(said["delta"]),
        confidence=float(said["confidence"]),
        columns=tuple(said["columns"]),
        split=tuple(_part(one) for one in said["split"]),
        errors={name: None if one is None else float(one) for name, one in said["errors"].items()},
        question=str(said["question"]),
        notes=tuple(said["notes"]),
        left=str(said["left"]),
        in_rows=frozenset(said["in_rows"]),
        alone={name: float(one) for name, one in said["alone"].items()},
        warnings=tuple(said["warnings"]),
        formulas=frozenset(said["formulas"]),
        fitted=frozenset(said["fitted"]),
    )


def _part(said: Json) -> SplitPart:
    return SplitPart(said["name"], amount(said["share"]), said["noise"], said["groups"])
