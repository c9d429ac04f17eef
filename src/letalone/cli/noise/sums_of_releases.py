"""The little language of `letalone account`: what is released, written as a sum.

    1000 * laplace(epsilon=0.1) + gaussian(sigma=2).sampled(0.01)

    sum      = term { "+" term }
    term     = [ count "*" ] factor [ "*" count ]
    factor   = ( name "(" arguments ")" | "(" sum ")" ) { "." method "(" argument ")" }
    argument = [ name "=" ] ( number | "?" ) | relation
    relation = "replace" | "add_remove"                  for under and with_neighbours

Text is cut into tokens, read into a tree of frozen records, and only then turned into a
`Privacy`; nothing is ever evaluated as Python. Length, depth and the size of numbers are
limited, so that no text can keep the program busy. An error points at its place.

Why not Python's own parser: docs/decisions/0028-libraries.md.

  Tested:   every name; what means the same is equal; hypothesis feeds it junk
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn, cast

from letalone.errors import LetaloneError, ParameterError
from letalone.errors.spelling import nearest
from letalone.mechanisms import (
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    RandomizedResponse,
)
from letalone.privacy import (
    ADD_REMOVE,
    REPLACE,
    ZCDP,
    ApproxDP,
    GaussianDP,
    Neighbours,
    Privacy,
    PureDP,
    compose,
)
from letalone.privacy.curves.renyi import RenyiDP

MAX_TEXT_LENGTH = 2000
MAX_DEPTH = 20
MAX_NUMBER_LENGTH = 40
MAX_EXPONENT = 400
MAX_RUNS = 10**9

TOKEN_PATTERN = re.compile(
    r"\s*(?:(?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z]\w*)"
    r"|(?P<sign>[-+*/().,=?])|(?P<unknown>\S))",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Hole:
    """The number that is asked for: `?`."""

    position: int


Value = Fraction | Hole


@dataclass(frozen=True, slots=True)
class Call:
    """A name and its arguments; those without a name come first, under their place."""

    name: str
    arguments: tuple[tuple[str, Value], ...]
    position: int


@dataclass(frozen=True, slots=True)
class Applied:
    """Something done to a release: a method of the language, or `runs` for a product."""

    to: "Node"
    method: str
    value: Value | Neighbours


@dataclass(frozen=True, slots=True)
class Together:
    """Releases side by side."""

    terms: tuple["Node", ...]


Node = Call | Applied | Together


@dataclass(frozen=True, slots=True)
class Form:
    """A name of the language: how it is made, and the parameters that it takes, in order.

    The sensitivity is 1 where it is not given.
    """

    make: Callable[..., Any]
    parameters: tuple[str, ...]
    example: str


def dpsgd(*, sigma: Fraction, rate: Fraction, steps: Fraction) -> Privacy:
    """Training by noisy gradients: steps of Gaussian noise on Poisson samples of one rate.

    `sigma` is in units of the clip norm: the noise multiplier of most libraries.
    """
    _check_runs(steps)
    return Gaussian(sigma=sigma, sensitivity=1).privacy.sampled(rate) * steps


FORMS: Mapping[str, Form] = {
    "laplace": Form(Laplace, ("epsilon", "scale", "sensitivity"), "laplace(epsilon=0.1)"),
    "geometric": Form(Geometric, ("epsilon", "scale", "sensitivity"), "geometric(epsilon=1)"),
    "gaussian": Form(Gaussian, ("sigma", "epsilon", "delta", "sensitivity"), "gaussian(sigma=2)"),
    "discrete_gaussian": Form(
        DiscreteGaussian,
        ("sigma", "epsilon", "delta", "sensitivity", "dimension"),
        "discrete_gaussian(sigma=2)",
    ),
    "exponential": Form(Exponential, ("epsilon", "sensitivity"), "exponential(epsilon=0.5)"),
    "randomized_response": Form(
        RandomizedResponse, ("epsilon", "truth", "categories"), "randomized_response(epsilon=1)"
    ),
    "pure": Form(PureDP, ("epsilon",), "pure(epsilon=0.1)"),
    "approx": Form(ApproxDP, ("epsilon", "delta"), "approx(epsilon=0.1, delta=1e-8)"),
    "zcdp": Form(ZCDP, ("rho",), "zcdp(rho=0.01)"),
    "gdp": Form(GaussianDP, ("mu",), "gdp(mu=0.5)"),
    "renyi": Form(RenyiDP, ("order", "epsilon"), "renyi(order=8, epsilon=0.5)"),
    "dpsgd": Form(dpsgd, ("sigma", "rate", "steps"), "dpsgd(sigma=1, rate=0.01, steps=1000)"),
}
METHODS: Mapping[str, tuple[str, str]] = {
    "sampled": ("rate", ".sampled(0.01)"),
    "shuffled": ("reports", ".shuffled(1000000)"),
    "group": ("size", ".group(3)"),
}
RELATIONS: Mapping[str, Neighbours] = {"replace": REPLACE, "add_remove": ADD_REMOVE}
LABELS = ("under", "with_neighbours")
EVERY_METHOD = (*METHODS, *LABELS)
# What other books and tools call these parameters.
SYNONYMS: Mapping[str, str] = {
    "alpha": "order",
    "eps": "epsilon",
    "std": "sigma",
    "noise_multiplier": "sigma",
    "b": "scale",
    "q": "rate",
    "sample_rate": "rate",
    "sampling_probability": "rate",
    "iterations": "steps",
    "p": "truth",
    "k": "size",
    "n": "reports",
}
WHOLE = ("categories", "dimension")
SAFER_WHEN_LARGE = ("sigma", "scale")
RUNS = "runs"
COUNTS = (RUNS, "steps")  # whole numbers, of which the largest is sought


class Word(NamedTuple):
    """A piece of the text and where it stands."""

    kind: str
    text: str
    position: int


def parse(text: str) -> Node:
    """The tree of a text; ParameterError with the place where it is wrong."""
    if len(text) > MAX_TEXT_LENGTH:
        raise ParameterError(
            f"The expression has {len(text)} characters, but may have at most {MAX_TEXT_LENGTH}. "
            "Write equal releases as a product: 1000 * laplace(epsilon=0.1)."
        )
    reader = _Reader(text, tuple(_tokens(text)))
    tree = reader.sum(0)
    if reader.token.kind != "end":
        reader.fail("here the expression should have ended, or gone on with +")
    return tree


def privacy_of(tree: Node, hole: Fraction | None = None) -> Privacy:
    """What the releases reveal together; `hole` stands for `?`."""
    match tree:
        case Together():
            return compose(*(privacy_of(term, hole) for term in tree.terms))
        case Call():
            return _make(tree, hole)
        case Applied(value=Neighbours() as neighbours):
            return getattr(privacy_of(tree.to, hole), tree.method)(neighbours)
        case Applied():
            number = _fill(cast("Value", tree.value), hole)
            privacy = privacy_of(tree.to, hole)
            if tree.method != RUNS:
                return getattr(privacy, tree.method)(number)
            _check_runs(number)
            return privacy * number


def _check_runs(number: Fraction) -> None:
    if number > MAX_RUNS:
        raise ParameterError(f"A release may be run at most {MAX_RUNS:,} times in an expression.")


def holes(tree: Node) -> list[tuple[str, Hole]]:
    """Each `?` of the tree, with the name of the number that it stands for."""
    match tree:
        case Together():
            return [hole for term in tree.terms for hole in holes(term)]
        case Call():
            return [(name, value) for name, value in tree.arguments if isinstance(value, Hole)]
        case Applied(value=Hole() as hole):
            name = RUNS if tree.method == RUNS else METHODS[tree.method][0]
            return [(name, hole), *holes(tree.to)]
        case Applied():
            return holes(tree.to)


def _fill(value: Value, hole: Fraction | None) -> Fraction:
    if not isinstance(value, Hole):
        return value
    if hole is None:
        raise ParameterError(
            "The expression holds a '?', which only `letalone calibrate` can fill. "
            "Write a number in its place."
        )
    return hole


def _make(call: Call, hole: Fraction | None) -> Privacy:
    form = FORMS[call.name]
    given: dict[str, Any] = {"sensitivity": 1} if "sensitivity" in form.parameters else {}
    given |= {name: _fill(value, hole) for name, value in call.arguments}
    for name in WHOLE:
        if name in given and given[name].denominator == 1:
            given[name] = int(given[name])
    try:
        made = form.make(**given)
    except LetaloneError as error:
        raise type(error)(f"{call.name} at character {call.position + 1}: {error}") from None
    except TypeError:
        raise ParameterError(
            f"{call.name} at character {call.position + 1}: a parameter is missing. It takes "
            f"{', '.join(form.parameters)}, as in {form.example}."
        ) from None
    return made if isinstance(made, Privacy) else made.privacy


def _tokens(text: str) -> Iterator[Word]:
    for match in TOKEN_PATTERN.finditer(text):
        kind = str(match.lastgroup)
        if kind == "unknown":
            _fail(text, match.start(kind), f"'{match[kind]}' has no meaning here")
        yield Word(kind, match[kind], match.start(kind))
    yield Word("end", "", len(text.rstrip()))


class _Reader:
    """Recursive descent over the tokens."""

    __slots__ = ("next", "text", "tokens")

    def __init__(self, text: str, tokens: tuple[Word, ...]) -> None:
        self.text, self.tokens, self.next = text, tokens, 0

    @property
    def token(self) -> Word:
        return self.tokens[self.next]

    def fail(self, words: str) -> NoReturn:
        _fail(self.text, self.token.position, words)

    def taken(self, sign: str) -> bool:
        """Steps over a sign if it is the next."""
        if self.token.text != sign:
            return False
        self.next += 1
        return True

    def expect(self, sign: str) -> None:
        if not self.taken(sign):
            self.fail(f"here a '{sign}' should stand")

    def sum(self, depth: int) -> Node:
        self.limit(depth)
        terms = [self.term(depth)]
        while self.taken("+"):
            terms.append(self.term(depth))
        return terms[0] if len(terms) == 1 else Together(tuple(terms))

    def term(self, depth: int) -> Node:
        before = None
        if self.token.text == "-":
            self.fail("nothing is run fewer than 0 times, so no minus can stand here")
        if self.token.kind == "number" or self.token.text == "?":
            before = self.value()
            if not self.taken("*"):
                self.fail("a number counts releases: here a '*' should stand")
        node = self.factor(depth)
        if before is not None:
            node = Applied(node, RUNS, before)
        factors = 0
        while self.taken("*"):
            factors += 1
            node = Applied(node, RUNS, self.value())
            self.limit(factors)
        return node

    def factor(self, depth: int) -> Node:
        if self.taken("("):
            node = self.sum(depth + 1)
            self.expect(")")
        else:
            node = self.call(FORMS, "release")
        methods = 0
        while self.taken("."):
            methods += 1
            node = self.method(node)
            self.limit(methods)
        return node

    def method(self, node: Node) -> Node:
        name = self.token.text
        if name not in LABELS:
            ((_, value),) = self.call(METHODS, "method").arguments
            return Applied(node, name, value)
        self.next += 1
        self.expect("(")
        relation = self.token.text.lower()
        if relation not in RELATIONS:
            self.fail(f"here a relation should stand. Those are: {', '.join(RELATIONS)}")
        self.next += 1
        self.expect(")")
        return Applied(node, name, RELATIONS[relation])

    def limit(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            self.fail(f"this is nested more than {MAX_DEPTH} deep")

    def call(self, known: Mapping[str, object], what: str) -> Call:
        name, position = self.token.text, self.token.position
        names = EVERY_METHOD if known is METHODS else tuple(known)
        if self.token.kind != "name":
            self.fail(f"here a {what} should stand. Those are: {', '.join(names)}")
        if name not in known:
            self.fail(f"'{name}' is not a {what}. {_nearest(name, names)}")
        self.next += 1
        self.expect("(")
        form = FORMS.get(name) if known is FORMS else None
        parameters = form.parameters if form is not None else (METHODS[name][0],)
        arguments = self.arguments(name, parameters)
        if form is None and len(arguments) != 1:
            _fail(self.text, position, f"{name} takes one number, as in {METHODS[name][1]}")
        return Call(name, arguments, position)

    def arguments(self, name: str, parameters: tuple[str, ...]) -> tuple[tuple[str, Value], ...]:
        arguments: dict[str, Value] = {}
        while not self.taken(")"):
            if arguments:
                self.expect(",")
            if len(arguments) >= len(parameters):
                self.fail(f"{name} takes no more than: {', '.join(parameters)}")
            key = self.key(name, parameters) or parameters[len(arguments)]
            if key in arguments:
                self.fail(f"{key} is given twice")
            arguments[key] = self.value()
        return tuple(arguments.items())

    def key(self, name: str, parameters: tuple[str, ...]) -> str | None:
        """The name before '=', if there is one."""
        if self.token.kind != "name":
            return None
        word = self.token.text
        if word not in parameters:
            self.fail(f"{name} has no '{word}'. {_nearest(word, parameters)}")
        self.next += 1
        self.expect("=")
        return word

    def value(self) -> Value:
        if self.token.text == "?":
            self.next += 1
            return Hole(self.tokens[self.next - 1].position)
        number = self.number()
        if self.taken("/"):
            divisor = self.number()
            if divisor == 0:
                self.fail("a fraction over 0 is not a number")
            number /= divisor
        return number

    def number(self) -> Fraction:
        sign = -1 if self.taken("-") else 1
        if self.token.kind != "number":
            self.fail("here a number should stand")
        text = self.token.text
        exponent = re.split("[eE]", text)[1:] or ["0"]
        if len(text) > MAX_NUMBER_LENGTH or abs(int(exponent[0])) > MAX_EXPONENT:
            self.fail("this number is too long, or too far from 1")
        self.next += 1
        return sign * Fraction(text.replace("_", ""))


def _nearest(word: str, known: tuple[str, ...]) -> str:
    meant = SYNONYMS.get(word.lower())
    near = meant if meant in known else nearest(word, known, near=0.5)
    guess = f" Did you mean '{near}'?" if near else ""
    return f"Those are: {', '.join(known)}.{guess}"


def _fail(text: str, position: int, words: str) -> NoReturn:
    start = max(0, position - 30)
    shown = text[start : position + 30].replace("\n", " ").replace("\t", " ")
    pointer = " " * (position - start) + "^"
    ending = "" if words.endswith((".", "?")) else "."
    raise ParameterError(
        f"The expression is not understood at character {position + 1}: {words}{ending}\n"
        f"  {shown}\n  {pointer}"
    )
