"""Where `letalone train` may write: nothing but the same model is written over.

A model was paid for, and a file may be its only copy. The same training again is free and gives the
same model, so it may be written over itself; and over that of an earlier version of the data.

  Tested:   tests/cli/test_train.py
"""

from itertools import chain, count
from pathlib import Path

from letalone.cli.commands.train import TrainOptions
from letalone.cli.offered import to_type_again
from letalone.cli.source import fingerprint_of
from letalone.cli.training import Ready, model_place
from letalone.errors import LetaloneError, ParameterError
from letalone.exact.typed import as_typed, written
from letalone.learn import model_files
from letalone.ledger import digest_of
from letalone.ledger.canonical import as_object
from letalone.privacy.curve import Json

NAME = "The training"


def check_model_place(found: Ready, ledger: Path) -> None:
    """Before anything is paid: the model can be written, and nothing else is lost by it."""
    asked, place = found.asked, model_place(found.asked)
    if not place.absolute().parent.is_dir():
        raise ParameterError(f"There is no folder {place.parent}. Make it, or write elsewhere.")
    if not place.exists():
        return
    try:
        stored = model_files.read(place)
    except LetaloneError:
        raise ParameterError(
            f"{place} exists and is no model file. Write elsewhere:"
            + to_type_again("train", asked, out=place.with_suffix(".model.json"))
        ) from None
    if not _is_of(stored, found, ledger):
        raise ParameterError(
            f"{place} holds another model, a {stored['model']}, which would be lost. Nothing was"
            f" charged. Write elsewhere:{to_type_again('train', asked, out=_elsewhere(asked))}"
        )


def _is_of(stored: Json, found: Ready, ledger: Path) -> bool:
    """Whether the file holds what this training gives, of these rows or of an earlier version."""
    try:
        receipt = model_files.signed(stored)
    except LetaloneError:
        return False
    if receipt is None or receipt.fingerprint != fingerprint_of(ledger):
        return False
    plan = as_object(receipt.body["plan"], name="The plan")
    rows = as_object(plan.get("rows", {}), name="The plan")
    held = {
        "data_set": receipt.body["data_set"],
        "model": plan.get("model"),
        "target": plan.get("target"),
        "where": rows.get("where"),
        "price": [stored["epsilon"], stored["delta"]],
    }
    return digest_of(held, name=NAME) == digest_of(_asked(found), name=NAME)


def _asked(found: Ready) -> Json:
    amounts = (found.estimator.epsilon, found.estimator.delta)
    return {
        "data_set": found.schema.name,
        "model": found.job.described(),
        "target": found.job.target,
        "where": None,
        "price": [written(as_typed(one)) for one in amounts],
    }


def _elsewhere(asked: TrainOptions) -> Path:
    """A file that is not there yet, named for what the training has of its own."""
    own = [] if asked.knots is None else [f"knots{asked.knots}"]
    own += [] if asked.model is None else [asked.model]
    names = chain(own, (str(number) for number in count(2)))
    places = (model_place(asked).with_suffix(f".{name}.json") for name in names)
    return next(place for place in places if not place.exists())
