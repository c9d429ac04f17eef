"""`letalone noise`: exact noise for numbers that are typed or piped in.

Several values are one vector: the sensitivity and the epsilon are those of all of them
together, and the error bar holds for all at once. The values given are private and never
appear in what is printed, nor in an error.
"""

import sys
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from letalone.cli.noise.noise_commands import NoiseOptions
from letalone.cli.screen import in_short, number_text, print_json, put, say, table, with_error
from letalone.cli.typed import as_whole
from letalone.errors import ParameterError
from letalone.errors.spelling import did_you_mean
from letalone.mechanisms import DiscreteGaussian, Gaussian, Geometric, Laplace

USUAL_DELTA = 1e-6  # where the curve of Gaussian noise is read if no --delta is given

Noise = Laplace | Geometric | Gaussian | DiscreteGaussian

SCALED, GAUSSIAN = ("epsilon", "scale"), ("epsilon", "delta", "sigma")
MECHANISMS: dict[str, tuple[Callable[..., Noise], tuple[str, ...]]] = {
    "laplace": (Laplace, SCALED),
    "geometric": (Geometric, SCALED),
    "gaussian": (Gaussian, GAUSSIAN),
    "discrete-gaussian": (DiscreteGaussian, GAUSSIAN),
}
WHOLE = ("geometric", "discrete-gaussian")
ALL_OPTIONS = (
    "--sensitivity", "--epsilon", "--delta", "--scale", "--sigma", "--confidence", "--json",
    "--help",
)  # fmt: skip


def noise(options: NoiseOptions) -> None:
    """Print the values with noise, the error bar and the price."""
    name = mechanism_called(options.mechanism)
    values = read_values(options.values, is_whole=name in WHOLE)
    mechanism = build(name, options, size=len(values))
    error = mechanism.error(options.confidence, size=len(values))
    delta, epsilon = price(mechanism, options)
    released: list[float] = mechanism.release(values).tolist()
    if options.as_json:
        bar = {"error": error, "confidence": options.confidence}
        price_paid = {"epsilon": epsilon, "delta": delta}
        print_json("noise", {"mechanism": name, "values": released} | bar | price_paid)
        return
    bars = [with_error(value, error) for value in released]
    rows = [(shown, f"± {bar}") for shown, bar in bars]
    put(table("private answer", "error", right=("private answer",), rows=rows))
    together = f", for all {len(values)} at once," if len(values) > 1 else ""
    often = number_text(options.confidence)
    at = f" and δ = {number_text(delta)}" if delta else ""
    say(
        f"The error{together} is at most this with probability {often} or more.",
        f"This spent ε = {in_short(epsilon)}{at}. Asking again spends it again.",
    )


def mechanism_called(word: str) -> str:
    """The name of a mechanism, however it was capitalised."""
    name = word.lower().replace("_", "-")
    if name in MECHANISMS:
        return name
    # What stands there may be a private value: it is not quoted.
    raise ParameterError(
        f"the first word is not a mechanism, but must be one of: {', '.join(MECHANISMS)}. "
        f"The values come after it.{did_you_mean(name, MECHANISMS, quoted=False)}"
    )


def price(mechanism: Noise, options: NoiseOptions) -> tuple[float, float]:
    """The delta and the epsilon to show: those that were typed, or a point of the curve."""
    gaussian = isinstance(mechanism, Gaussian | DiscreteGaussian)
    delta = (USUAL_DELTA if options.delta is None else options.delta) if gaussian else 0.0
    if options.epsilon is not None:
        return delta, options.epsilon
    return delta, mechanism.privacy.epsilon(delta)


def read_values(words: Sequence[str], *, is_whole: bool) -> list[float]:
    """The numbers that were typed, or else those on standard input."""
    words = words or _standard_input().split()
    if not words:
        raise ParameterError("standard input is empty, but must hold at least one number.")
    return [_number(word, place, is_whole=is_whole) for place, word in enumerate(words, start=1)]


def _standard_input() -> str:
    if not sys.stdin:  # it was closed
        return ""
    if sys.stdin.isatty():
        raise ParameterError(
            "no value was given, but noise needs a number to hide. "
            "Type it after the mechanism, or pipe numbers in, one a line."
        )
    try:
        return sys.stdin.read().removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")  # a mark of Windows
    except UnicodeDecodeError:
        raise ParameterError(
            "standard input is not text, but must hold numbers, one a line, in UTF-8."
        ) from None


def _number(word: str, place: int, *, is_whole: bool) -> float:
    try:
        return as_whole(word) if is_whole else float(word)
    except ValueError:
        pass
    if word.startswith("-") and word.lstrip("-")[:1].isalpha():
        raise _stray_option(word.split("=")[0])
    # The word itself may be private: it is counted, not quoted.
    needed = "a whole number; laplace and gaussian take others" if _is_finite(word) else "a number"
    raise ParameterError(f"value {place} of the input is not {needed}.")


def _is_finite(word: str) -> bool:
    try:
        return isfinite(float(word))
    except ValueError:
        return False


def _stray_option(option: str) -> ParameterError:
    if option in ALL_OPTIONS:
        return ParameterError(
            f"{option} stands after --, where every word is a value. Put the options before it."
        )
    return ParameterError(
        f"{option} is not an option of noise. `letalone noise --help` lists those that are."
        f"{did_you_mean(option, ALL_OPTIONS, quoted=False)}"
    )


def build(name: str, options: NoiseOptions, *, size: int) -> Noise:
    """The mechanism with the options that were typed; others are refused by name."""
    if options.sensitivity is None:
        raise ParameterError(
            "--sensitivity is missing: the most that one person can change the values in total. "
            "For a count it is 1."
        )
    typed = {option: getattr(options, option) for option in ("epsilon", "delta", "scale", "sigma")}
    given: dict[str, Any] = {option: value for option, value in typed.items() if value is not None}
    make, known = MECHANISMS[name]
    for option in given.keys() - set(known):
        allowed = ", ".join(f"--{each}" for each in known)
        raise ParameterError(f"--{option} means nothing to {name}, which takes {allowed}.")
    if "delta" in known and "epsilon" in given and "delta" not in given:
        raise ParameterError(
            f"--delta is missing, but {name} noise needs one: a number far below "
            "1 / number of people, such as 1e-6. laplace and geometric need none."
        )
    if "sigma" in given and "epsilon" not in given:
        given.pop("delta", None)  # it only says where to read the curve
    if name == "discrete-gaussian":
        given["dimension"] = size
    is_whole = name in WHOLE and options.sensitivity.is_integer()
    sensitivity = int(options.sensitivity) if is_whole else options.sensitivity
    return make(sensitivity=sensitivity, **given)
