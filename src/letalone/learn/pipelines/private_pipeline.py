# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Pipelines in which every step is accounted for.

    la.learn.make_pipeline(la.learn.TableEncoder({…}), la.learn.LogisticRegression(epsilon=1, …))

As scikit-learn's, but a step that learns from rows, and does not pay for it, is refused before
anything is fitted (`steps`); and `privacy_` is what all its steps reveal together.

A file holds a fitted pipeline whole: encoder and models, each as in a file of its own. Steps of
scikit-learn are not written: nothing in a file is run, and their state is not ours to check. A
`TableEncoder` in front of private estimators is all that is declared anyway.

  Proven:   composition of what each private step reveals (docs/explanation/proofs/composition.md)
  Tested:   tests/learn/test_pipelines.py: the round trip, every part changed
"""

from collections.abc import Callable
from typing import Any, cast

from sklearn.pipeline import Pipeline
from sklearn.pipeline import make_pipeline as name_steps

from letalone.errors import ParameterError
from letalone.learn.features.encoding import TableEncoder
from letalone.learn.model_files import DigestedFile
from letalone.learn.pipelines.steps import check_steps
from letalone.learn.training import PrivateEstimator
from letalone.privacy import Privacy, compose
from letalone.privacy.curve import Json

PIPELINE_FILE = DigestedFile("pipeline file", frozenset({"steps"}), "The pipeline file is none.")
ENCODER, MODEL = "encoder", "model"
Step = tuple[str, Any]


class PrivatePipeline(Pipeline):
    """A pipeline whose last step is a private estimator, behind steps that are accounted for."""

    def fit(self, X: Any, y: Any = None, **params: Any) -> "PrivatePipeline":  # noqa: N803
        """Fits all steps; refused, before any is fitted, where one learns from rows unpaid."""
        check_pipeline(self)
        super().fit(X, y, **params)
        return self

    @property
    def privacy_(self) -> Privacy:
        """What all steps reveal together."""
        steps = cast("list[Any]", [step for _, step in self.steps])
        return compose(*(step.privacy_ for step in steps if isinstance(step, PrivateEstimator)))


def make_pipeline(*steps: Any) -> PrivatePipeline:
    """A pipeline of these steps, the last of them a private estimator.

    Refused, before anything is fitted, where a step in front of it learns from rows and does not
    account for it: scalers and encoders of scikit-learn whose bounds or categories are not given.
    """
    return check_pipeline(PrivatePipeline(name_steps(*steps).steps))


def check_pipeline(pipeline: PrivatePipeline) -> PrivatePipeline:
    """The pipeline, if all in it is accounted for."""
    final = cast("object", pipeline.steps[-1][1]) if pipeline.steps else None
    if not isinstance(final, PrivateEstimator):
        raise ParameterError(
            "The last step is not a private estimator, so nothing is charged for what the pipeline"
            " learns. End with one of la.learn, such as la.learn.LogisticRegression(epsilon=1, …)."
        )
    check_steps(pipeline.steps[:-1], what=type(final).__name__)
    return pipeline


def pipeline_text(steps: list[Step], write_model: Callable[[object], Json]) -> str:
    """The text of a file with these steps; `write_model` gives the content of a model's file."""
    written = [_write_step(name, step, write_model) for name, step in steps]
    return PIPELINE_FILE.text({"steps": written})


def _write_step(name: str, step: Any, write_model: Callable[[object], Json]) -> Json:
    if isinstance(step, TableEncoder):
        return {"name": name, "is": ENCODER, "content": step.to_json()}
    if isinstance(step, PrivateEstimator):
        return {"name": name, "is": MODEL, "content": write_model(step)}
    raise ParameterError(
        f"The step {name!r} is {type(step).__name__}, and only a la.learn.TableEncoder and the"
        " estimators of la.learn are saved with a pipeline. Use a TableEncoder in its place, or"
        " save the last step alone."
    )


def read_pipeline(stored: Json, read_model: Callable[[Json], PrivateEstimator]) -> PrivatePipeline:
    """The pipeline in a file, if nothing in it was changed."""
    listed = cast("list[Json]", PIPELINE_FILE.check(stored)["steps"])
    steps = [_read_step(step, read_model) for step in listed]
    return PrivatePipeline(steps)


def _read_step(stored: Json, read_model: Callable[[Json], PrivateEstimator]) -> Step:
    name, content = cast("str", stored["name"]), cast("Json", stored["content"])
    if stored["is"] == ENCODER:
        return name, TableEncoder.from_json(content)
    return name, read_model(content)
