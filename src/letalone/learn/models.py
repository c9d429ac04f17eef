"""Saving a fitted model and reading it back: a file of numbers and text, with its receipt.

    la.learn.save(model, "income.json")
    la.learn.load("income.json").predict(rows)

Only what was published is in it. Nothing in it is run: a model is made by its class's name from
letalone's own list.

  Tested:   tests/learn/test_model_files.py
"""

import os
from collections.abc import Mapping
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from sklearn.pipeline import Pipeline

from letalone import learn
from letalone.errors import FormatError, LetaloneError, ParameterError
from letalone.exact.typed import as_typed, read_rational, write_rational
from letalone.learn import model_files
from letalone.learn.features.encoding import TableEncoder
from letalone.learn.on_tables import width_of
from letalone.learn.pipelines.private_pipeline import PIPELINE_FILE, pipeline_text, read_pipeline
from letalone.learn.plan import FitRecord
from letalone.learn.stored import from_json, to_json
from letalone.learn.training import PrivateEstimator
from letalone.privacy import Privacy
from letalone.privacy.curve import Json
from letalone.privacy.stored import from_json as curve_from_json

NOT_STORED = ("privacy_", "release_", "encoder_")


def save(model: object, path: str | os.PathLike[str]) -> str:
    """Writes a fitted model, or a pipeline with it, to a file; returns where."""
    if isinstance(model, Pipeline):
        text = pipeline_text(cast("Any", model).steps, _whole_content)
    else:
        text = model_files.MODEL_FILE.text(_file_content(model))
    place = Path(path)
    try:
        place.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ParameterError(f"{place} cannot be written: {error.strerror}.") from None
    return str(place)


def load(path: str | os.PathLike[str], *, public_key: str | None = None) -> Any:
    """The model, or the pipeline, in a file, if nothing in it was changed.

    `public_key` is the key of the ledger's owner, or its fingerprint: then the receipt must have
    been signed by it. Without one, compare the fingerprint that `letalone verify` prints.
    """
    stored = model_files.read_file(Path(path))
    if stored.get("kind") == PIPELINE_FILE.kind:
        return read_pipeline(stored, lambda content: _load(content, public_key=public_key))
    return _load(stored, public_key=public_key)


def _load(content: Json, *, public_key: str | None) -> PrivateEstimator:
    stored = model_files.MODEL_FILE.check(content)
    receipt = model_files.verify_signed(stored, public_key=public_key)
    ledger_words = "No ledger was charged." if receipt is None else f"Read from a file. {receipt}"
    try:
        model = _restore_model(stored)
        model.release_ = _fit(stored, model.privacy_, ledger_words)
    except LetaloneError:
        raise
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
        raise FormatError("The model file is damaged: a part is not what was written.") from None
    return model


def _file_content(model: object) -> Json:
    known = type(model).__name__ in dir(learn) and not hasattr(model, "best_estimator_")
    if not isinstance(model, PrivateEstimator) or not known:
        raise ParameterError(
            f"This is {type(model).__name__}, but only estimators of letalone.learn are saved, and"
            " pipelines of them. Of a search save its best_estimator_."
        )
    if not hasattr(model, "release_"):
        raise ParameterError("The model is not fitted, so there is nothing to save. Call fit.")
    fit, encoder = model.release_, getattr(model, "encoder_", None)
    parameters = cast("dict[str, object]", model.get_params(deep=False))
    return {
        "letalone": version("letalone"),
        "model": type(model).__name__,
        "parameters": to_json(parameters),
        "attributes": to_json({n: value for n, value in vars(model).items() if _is_public(n)}),
        "encoding": None if encoder is None else encoder.to_json(),
        "epsilon": write_rational(as_typed(fit.epsilon)),
        "delta": write_rational(as_typed(fit.delta)),
        "privacy": fit.privacy.to_json(),
        "plan": fit.plan,
        "words": list(fit.words),
        "receipt": fit.receipt,
    }


def _whole_content(model: object) -> Json:
    """What the file of one model would hold, with its digest."""
    return model_files.MODEL_FILE.with_digest(_file_content(model))


def _is_public(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_") and name not in NOT_STORED


def _restore_model(stored: Json) -> PrivateEstimator:
    name = cast("str", stored["model"])
    kind = getattr(learn, name) if name in dir(learn) else None
    if not isinstance(kind, type) or not issubclass(kind, PrivateEstimator):
        raise FormatError(f"The model file holds a {name!r}, which this letalone does not know.")
    parameters = from_json(cast("Mapping[str, object]", stored["parameters"]))
    model = cast("Any", kind)(**parameters)
    for attribute, value in from_json(cast("Mapping[str, object]", stored["attributes"])).items():
        if not _is_public(attribute):
            raise FormatError(f"The model file is damaged: {attribute[:40]!r} is not an attribute.")
        setattr(model, attribute, value)
    if stored["encoding"] is not None:
        model.encoder_ = TableEncoder.from_json(cast("Json", stored["encoding"]))
        if width_of(model.encoder_) != model.n_features_in_:
            raise FormatError("The model file is damaged: it is of other features than it encodes.")
    model.privacy_ = curve_from_json(cast("Json", stored["privacy"]))
    return model


def _fit(stored: Json, privacy: Privacy, left: str) -> FitRecord:
    epsilon, delta = (read_rational(cast("str", stored[name])) for name in ("epsilon", "delta"))
    if Fraction(privacy.delta(epsilon)) > delta:
        raise FormatError("The model file is damaged: its price is not that of its privacy curve.")
    return FitRecord(
        cast("str", stored["model"]),
        epsilon,
        delta,
        privacy,
        tuple(cast("list[str]", stored["words"])),
        cast("Json", stored["plan"]),
        cast("Json | None", stored["receipt"]),
        left=left,
    )
