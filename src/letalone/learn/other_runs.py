"""What a run made elsewhere reveals, certified: with Opacus, or an event of dp_accounting.

    account_run(noise_multiplier=1.1, sample_rate=0.004, steps=10_000, delta=1e-5)
    account_run(privacy_engine.accountant.history, delta=1e-5)          # of Opacus
    account_run(event, delta=1e-5, claimed=2.3)                          # of dp_accounting

An event is read by how it prints, so it may as well be its text. Steps are Poisson-sampled Gaussian
releases under add or remove; whether the other program drew and clipped as it says is not seen.

  Proven:   docs/explanation/proofs/loss_distributions.md, for the curve
  Tested:   tests/learn/test_account_run.py
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, DELTA, PROBABILITY, SCALE, Number, as_typed
from letalone.privacy import ADD_REMOVE, GaussianDP, LaplacePrivacy, Privacy, compose
from letalone.privacy.bounds import six

HISTORY_OF = 3  # noise, rate, steps
HOW = (
    "Give noise_multiplier=, sample_rate= and steps=, or the history of Opacus' accountant, or an"
    " event of dp_accounting."
)


@dataclass(frozen=True, slots=True)
class AccountedRun:
    """What a run reveals: ε is at most `epsilon` and certainly at least `at_least`, at `delta`."""

    privacy: Privacy
    delta: Number
    epsilon: float
    at_least: float
    claimed: float | None = None

    @property
    def over_claimed(self) -> float | None:
        """By how much more the claim says than is revealed; below 0 where it says too little."""
        return None if self.claimed is None else self.claimed - self.epsilon

    @property
    def is_sound(self) -> bool | None:
        """Whether what was claimed is certainly true; False only where it certainly is not."""
        if self.claimed is None or self.at_least <= self.claimed < self.epsilon:
            return None
        return self.claimed >= self.epsilon

    def __str__(self) -> str:
        shown = f"ε = {six(as_typed(self.epsilon))} at δ = {six(as_typed(self.delta))}, certified"
        if self.claimed is None:
            return f"{shown}."
        verdicts = {
            True: "says more than is revealed" if self.claimed > self.epsilon else "is exact",
            False: "says too little: more is revealed",
            None: "is between what is certainly revealed and the certified ε",
        }
        claim = six(as_typed(self.claimed))
        return f"{shown}. The claim of {claim} {verdicts[self.is_sound]}."


def account_run(
    run: object = None,
    *,
    delta: Number,
    noise_multiplier: Number | None = None,
    sample_rate: Number | None = None,
    steps: Number | None = None,
    claimed: float | None = None,
) -> AccountedRun:
    """The certified ε of a run at a δ, and how the ε that was claimed for it compares.

    run: Opacus' `accountant.history`, a list of (noise multiplier, sample rate, steps); or an event
    of dp_accounting, or its text; or nothing, and the three numbers by name.
    """
    share = DELTA.typed("delta", delta)
    numbers = (noise_multiplier, sample_rate, steps)
    if run is None and None not in numbers:
        privacy = _history([numbers])
    elif run is None or any(number is not None for number in numbers):
        raise ParameterError(f"A run is one of three things, but here is none or two. {HOW}")
    elif isinstance(run, list | tuple):
        privacy = _history(cast("Sequence[Any]", run))
    else:
        privacy = _read_event(_parse(run if isinstance(run, str) else repr(run)))
    lower, upper = privacy.labelled(ADD_REMOVE).epsilon_bounds(share)
    return AccountedRun(privacy.labelled(ADD_REMOVE), delta, upper, lower, claimed)


def _history(history: Sequence[Any]) -> Privacy:
    parts: list[Privacy] = []
    for entry in history:
        if not isinstance(entry, list | tuple) or len(cast("Sequence[Any]", entry)) != HISTORY_OF:
            raise ParameterError(f"A history is a list of (noise, rate, steps). {HOW}")
        noise, rate, steps = cast("Sequence[Any]", entry)
        sigma = SCALE.typed("noise_multiplier", noise)
        share = PROBABILITY.typed("sample_rate", rate)
        parts.append(_sample(GaussianDP(1 / sigma), share) * int(COUNT.typed("steps", steps)))
    return compose(*parts)


def _sample(privacy: Privacy, rate: Fraction) -> Privacy:
    if rate == 1:
        return privacy
    return privacy.sampled(rate) if rate else compose()


def _parse(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        raise ParameterError(f"This cannot be read as an event: {text[:80]!r}. {HOW}") from None


def _read_event(node: ast.expr) -> Privacy:
    """The curve of one event, as dp_accounting names them."""
    name, given = _call(node)
    rule = EVENTS.get(name)
    if rule is None:
        raise ParameterError(
            f"{name} is not accounted for here. Events that are: {', '.join(sorted(EVENTS))}."
        )
    return rule(given)


def _call(node: ast.expr) -> tuple[str, Mapping[str, ast.expr]]:
    if not isinstance(node, ast.Call):
        raise ParameterError(f"An event is written like GaussianDpEvent(noise_multiplier=1). {HOW}")
    name = ast.unparse(node.func).rpartition(".")[2]
    given = {keyword.arg or "": keyword.value for keyword in node.keywords}
    names = FIELDS.get(name, ())
    given |= dict(zip(names, node.args, strict=False))
    if set(given) != set(names) and name in FIELDS:
        raise ParameterError(f"{name} takes {' and '.join(names) or 'nothing'}.")
    return name, given


def _number(node: ast.expr) -> Number:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        value = None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParameterError(f"{ast.unparse(node)[:80]} is not a number.")
    return value


def _gaussian(given: Mapping[str, ast.expr]) -> Privacy:
    return GaussianDP(1 / SCALE.typed("noise_multiplier", _number(given["noise_multiplier"])))


def _laplace(given: Mapping[str, ast.expr]) -> Privacy:
    scale = SCALE.typed("noise_multiplier", _number(given["noise_multiplier"]))
    return LaplacePrivacy(1 / scale)


def _poisson(given: Mapping[str, ast.expr]) -> Privacy:
    rate = PROBABILITY.typed("sampling_probability", _number(given["sampling_probability"]))
    return _sample(_read_event(given["event"]), rate)


def _repeat_event(given: Mapping[str, ast.expr]) -> Privacy:
    return _read_event(given["event"]) * int(COUNT.typed("count", _number(given["count"])))


def _compose_events(given: Mapping[str, ast.expr]) -> Privacy:
    events = given["events"]
    if not isinstance(events, ast.List | ast.Tuple):
        raise ParameterError("ComposedDpEvent takes a list of events.")
    return compose(*map(_read_event, events.elts))


def _nothing(given: Mapping[str, ast.expr]) -> Privacy:
    del given  # there is nothing
    return compose()


EVENTS: dict[str, Callable[[Mapping[str, ast.expr]], Privacy]] = {
    "ComposedDpEvent": _compose_events,
    "GaussianDpEvent": _gaussian,
    "LaplaceDpEvent": _laplace,
    "NoOpDpEvent": _nothing,
    "PoissonSampledDpEvent": _poisson,
    "SelfComposedDpEvent": _repeat_event,
}
FIELDS: dict[str, tuple[str, ...]] = {
    "ComposedDpEvent": ("events",),
    "GaussianDpEvent": ("noise_multiplier",),
    "LaplaceDpEvent": ("noise_multiplier",),
    "NoOpDpEvent": (),
    "PoissonSampledDpEvent": ("sampling_probability", "event"),
    "SelfComposedDpEvent": ("event", "count"),
}
