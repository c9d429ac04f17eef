"""Files that hold a fitted model: canonical JSON of text and whole numbers, never code.

A file has a digest of its own, by which damage is found. Where a ledger was charged it also has
the receipt, signed; the published attributes and the plan must be those that were signed.

  Tested:   tests/learn/test_model_files.py: every part of a file changed
"""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from letalone.errors import FormatError, LedgerDamaged, ParameterError
from letalone.errors.spelling import check_format
from letalone.learn.account import CURVE
from letalone.ledger import Receipt, verify_receipt
from letalone.ledger.chain.canonical import as_object, canonical, digest_of, read_object
from letalone.privacy.curve import Json

FORMAT = 1
SEARCH = "PrivateSearchCV"  # its best model is saved, and its own plan was charged


@dataclass(frozen=True, slots=True)
class DigestedFile:
    """A kind of file that has a digest of all that is in it; `otherwise`: said of other files."""

    kind: str
    fields: frozenset[str]
    otherwise: str

    @property
    def name(self) -> str:
        return f"The {self.kind}"

    def text(self, content: Json) -> str:
        """The text of a file with this content."""
        return canonical(self.with_digest(content), name=self.name) + "\n"

    def with_digest(self, content: Json) -> Json:
        """The content as it stands in a file."""
        body: Json = {"format": FORMAT, "kind": self.kind, **content}
        return {**body, "digest": digest_of(body, name=self.name)}

    def check(self, stored: Json) -> Json:
        """The content, if it is of a format that is known and nothing was changed."""
        check_format(self.name, stored, FORMAT, kind=self.kind, otherwise=self.otherwise)
        rest = {name: value for name, value in stored.items() if name != "digest"}
        is_whole = set(stored) == {"format", "kind", "digest", *self.fields}
        if not is_whole or stored["digest"] != digest_of(rest, name=self.name):
            raise FormatError(f"{self.name} is damaged: it is not what was written. Make it again.")
        return stored


MODEL_FIELDS = (
    "letalone", "model", "parameters", "attributes", "encoding", "epsilon", "delta", "privacy",
    "plan", "words", "receipt",
)  # fmt: skip
MODEL_FILE = DigestedFile(
    "model file",
    frozenset(MODEL_FIELDS),
    "This is not a model file: `la.learn.save` and `letalone train` write it.",
)
NAME = MODEL_FILE.name


def read(path: Path) -> Json:
    """The content of a model's file, checked."""
    return MODEL_FILE.check(read_file(path))


def read_file(path: Path) -> Json:
    """The content of a file, whatever it is."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ParameterError(f"{path} cannot be read: {error.strerror}.") from None
    if not text.lstrip().startswith(b"{"):
        raise FormatError(
            f"{path} is not a model file: `la.learn.save` and `letalone train` write it."
        )
    return read_object(text, name=str(path))


def verify_signed(stored: Json, *, public_key: str | None = None) -> Receipt | None:
    """The receipt, if it stands for this model; None where no ledger was charged."""
    if stored["receipt"] is None:
        if public_key is not None:
            raise LedgerDamaged("The model has no receipt: no ledger was charged for it.")
        return None
    receipt = verify_receipt(as_object(stored["receipt"], name=NAME), public_key=public_key)
    release = _of_model(as_object(receipt.body["release"], name="The release"))
    attributes = as_object(stored["attributes"], name=NAME)
    names = set(release) - {"format", "kind"}
    same = all(attributes.get(name) == release[name] for name in names)
    plan = as_object(receipt.body["plan"], name="The plan")
    curve = plan.pop(CURVE, receipt.body["privacy"])
    same = same and _curve(stored["privacy"]) == _curve(curve)
    if not same or not _plan_is(stored, plan):
        raise LedgerDamaged(
            "The model is not the one that its receipt was signed for. Do not rely on it, and ask"
            " for a new one."
        )
    return receipt


def _curve(privacy: object) -> Json:
    """A curve without its label: a table's names the unit, a plan's does not."""
    curve = as_object(privacy, name="The privacy curve")
    return {name: value for name, value in curve.items() if name != "neighbours"}


def _of_model(release: Json) -> Json:
    """What was published of the model itself: a search publishes more beside it."""
    best = cast("Json | None", release.get("best_model_"))
    return release if best is None else as_object(best["map"], name="The release")


def _plan_is(stored: Json, plan: Json) -> bool:
    """Whether the plan is the one that was signed: alone, or as that of a table's training."""
    if plan.get("kind") != "training":
        return plan == stored["plan"]
    model = as_object(plan["model"], name="The plan")
    is_same_model = model.pop("estimator") in (stored["model"], SEARCH)
    return is_same_model and model == {"encoding": stored["encoding"], "plan": stored["plan"]}
