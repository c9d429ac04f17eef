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

  Tested:   every name; what means the same is equal; hypothesis feeds it junk
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

from letalone.errors import LetaloneError, ParameterError
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
from letalone.privacy.renyi import RenyiDP

LONGEST_TEXT = 2000
DEEPEST = 20
LONGEST_NUMBER = 40
LARGEST_EXPONENT = 400
MOST_RUNS = 10**9

TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z]\w*)"
    r"|(?P<sign>[-+*/().,=?]))",
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
class Method:
    """Something done to a release: sampled, shuffled, or read for a group."""

    of: "Node"
    call: Call


@dataclass(frozen=True, slots=True)
class Labelled:
    """A release under a relation: converted to it (`under`), or said to hold for it."""

    of: "Node"
    method: str
    neighbours: Neighbours


@dataclass(frozen=True, slots=True)
class Times:
    """A release that is run several times."""

    of: "Node"
    count: Value
    position: int


@dataclass(frozen=True, slots=True)
class Sum:
    """Releases side by side."""

    terms: tuple["Node", ...]


Node = Call | Method | Labelled | Times | Sum


@dataclass(frozen=True, slots=True)
class Form:
    """A name of the language: how it is made, and the parameters that it takes, in order."""

    make: Callable[..., Any]
    parameters: tuple[str, ...]
    defaults: Mapping[str, int]
    example: str


ONE: Mapping[str, int] = {"sensitivity": 1}

FORMS: Mapping[str, Form] = {
    "laplace": Form(Laplace, ("epsilon", "scale", "sensitivity"), ONE, "laplace(epsilon=0.1)"),
    "geometric": Form(Geometric, ("epsilon", "scale", "sensitivity"), ONE, "geometric(epsilon=1)"),
    "gaussian": Form(
        Gaussian, ("sigma", "epsilon", "delta", "sensitivity"), ONE, "gaussian(sigma=2)"
    ),
    "discrete_gaussian": Form(
        DiscreteGaussian,
        ("sigma", "epsilon", "delta", "sensitivity", "dimension"),
        ONE,
        "discrete_gaussian(sigma=2)",
    ),
    "exponential": Form(Exponential, ("epsilon", "sensitivity"), ONE, "exponential(epsilon=0.5)"),
    "randomized_response": Form(
        RandomizedResponse,
        ("epsilon", "truth", "categories"),
        {},
        "randomized_response(epsilon=1)",
    ),
    "pure": Form(PureDP, ("epsilon",), {}, "pure(epsilon=0.1)"),
    "approx": Form(ApproxDP, ("epsilon", "delta"), {}, "approx(epsilon=0.1, delta=1e-8)"),
    "zcdp": Form(ZCDP, ("rho",), {}, "zcdp(rho=0.01)"),
    "gdp": Form(GaussianDP, ("mu",), {}, "gdp(mu=0.5)"),
    "renyi": Form(RenyiDP, ("order", "epsilon"), {}, "renyi(order=8, epsilon=0.5)"),
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
    "p": "truth",
    "k": "size",
    "n": "reports",
}
WHOLE = ("categories", "dimension")
SAFER_WHEN_LARGE = ("sigma", "scale")


class Token(NamedTuple):
    """A piece of the text and where it stands."""

    kind: str
    text: str
    position: int


def parse(text: str) -> Node:
    """The tree of a text; ParameterError with the place where it is wrong."""
    if len(text) > LONGEST_TEXT:
        raise ParameterError(
            f"The expression has {len(text)} characters, but may have at most {LONGEST_TEXT}. "
            "Write equal releases as a product: 1000 * laplace(epsilon=0.1)."
        )
    reader = _Reader(text, tuple(_tokens(text)))
    tree = reader.sum(0)
    if reader.kind != "end":
        reader.fail("here the expression should have ended, or gone on with +")
    return tree


def privacy_of(tree: Node, hole: Fraction | None = None) -> Privacy:
    """What the releases reveal together; `hole` stands for `?`."""
    match tree:
        case Sum():
            return compose(*(privacy_of(term, hole) for term in tree.terms))
        case Times():
            return privacy_of(tree.of, hole) * _count(_filled(tree.count, hole))
        case Method():
            inner, (_, value) = privacy_of(tree.of, hole), tree.call.arguments[0]
            number = _filled(value, hole)
            return _done(tree.call.name, inner, number)
        case Labelled():
            inner = privacy_of(tree.of, hole)
            if tree.method == "under":
                return inner.under(tree.neighbours)
            return inner.with_neighbours(tree.neighbours)
        case Call():
            return _made(tree, hole)


def _done(name: str, privacy: Privacy, number: Fraction) -> Privacy:
    match name:
        case "sampled":
            return privacy.sampled(number)
        case "shuffled":
            return privacy.shuffled(number)
        case _:
            return privacy.group(number)


def holes(tree: Node) -> list[tuple[str, Hole]]:
    """Each `?` of the tree, with the name of the number that it stands for."""
    match tree:
        case Sum():
            return [found for term in tree.terms for found in holes(term)]
        case Times():
            own = [("runs", tree.count)] if isinstance(tree.count, Hole) else []
            return own + holes(tree.of)
        case Method():
            return _holes_of(tree.call) + holes(tree.of)
        case Labelled():
            return holes(tree.of)
        case Call():
            return _holes_of(tree)


def _holes_of(call: Call) -> list[tuple[str, Hole]]:
    return [(name, value) for name, value in call.arguments if isinstance(value, Hole)]


def _filled(value: Value, hole: Fraction | None) -> Fraction:
    if not isinstance(value, Hole):
        return value
    if hole is None:
        raise ParameterError(
            "The expression holds a '?', which only `letalone calibrate` can fill. "
            "Write a number in its place."
        )
    return hole


def _count(number: Fraction) -> Fraction:
    if number > MOST_RUNS:
        raise ParameterError(f"A release may be run at most {MOST_RUNS:,} times in an expression.")
    return number


def _made(call: Call, hole: Fraction | None) -> Privacy:
    form = FORMS[call.name]
    given: dict[str, Any] = {name: _filled(value, hole) for name, value in call.arguments}
    for name in WHOLE:
        if name in given and given[name].denominator == 1:
            given[name] = int(given[name])
    try:
        made = form.make(**{**form.defaults, **given})
    except LetaloneError as error:
        raise type(error)(f"{call.name} at character {call.position + 1}: {error}") from None
    except TypeError:
        raise ParameterError(
            f"{call.name} at character {call.position + 1}: a parameter is missing. It takes "
            f"{', '.join(form.parameters)}, as in {form.example}."
        ) from None
    return made if isinstance(made, Privacy) else made.privacy


def _tokens(text: str) -> Iterator[Token]:
    position = 0
    while text[position:].strip():
        found = TOKEN.match(text, position)
        if found is None:
            place = position + len(text[position:]) - len(text[position:].lstrip())
            _fail(text, place, f"'{text[place]}' has no meaning here")
        kind = str(found.lastgroup)
        yield Token(kind, found.group(kind), found.start(kind))
        position = found.end()
    yield Token("end", "", len(text.rstrip()))


class _Reader:
    """Recursive descent over the tokens."""

    __slots__ = ("next", "text", "tokens")

    def __init__(self, text: str, tokens: tuple[Token, ...]) -> None:
        self.text, self.tokens, self.next = text, tokens, 0

    @property
    def token(self) -> Token:
        return self.tokens[self.next]

    @property
    def kind(self) -> str:
        return self.token.kind

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
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def term(self, depth: int) -> Node:
        position, before = self.token.position, None
        if self.token.text == "-":
            self.fail("nothing is run fewer than 0 times, so no minus can stand here")
        if self.kind == "number" or self.token.text == "?":
            before = self.value()
            if self.token.text != "*":
                self.fail("a number counts releases: here a '*' should stand")
            self.next += 1
        node = self.factor(depth)
        if before is not None:
            node = Times(node, before, position)
        factors = 0
        while self.taken("*"):
            factors += 1
            position = self.token.position
            node = Times(node, self.value(), position)
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
            return Method(node, self.call(METHODS, "method"))
        self.next += 1
        self.expect("(")
        relation = self.token.text.lower()
        if relation not in RELATIONS:
            self.fail(f"here a relation should stand. Those are: {', '.join(RELATIONS)}")
        self.next += 1
        self.expect(")")
        return Labelled(node, name, RELATIONS[relation])

    def limit(self, depth: int) -> None:
        if depth > DEEPEST:
            self.fail(f"this is nested more than {DEEPEST} deep")

    def call(self, known: Mapping[str, object], what: str) -> Call:
        name, position = self.token.text, self.token.position
        names = EVERY_METHOD if known is METHODS else tuple(known)
        if self.kind != "name":
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
        found: dict[str, Value] = {}
        while not self.taken(")"):
            if found:
                self.expect(",")
            if len(found) >= len(parameters):
                self.fail(f"{name} takes no more than: {', '.join(parameters)}")
            key = self.key(name, parameters) or parameters[len(found)]
            if key in found:
                self.fail(f"{key} is given twice")
            found[key] = self.value()
        return tuple(found.items())

    def key(self, name: str, parameters: tuple[str, ...]) -> str | None:
        """The name before '=', if there is one."""
        if self.kind != "name":
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
        if self.kind != "number":
            self.fail("here a number should stand")
        text = self.token.text
        exponent = re.split("[eE]", text)[1:] or ["0"]
        if len(text) > LONGEST_NUMBER or abs(int(exponent[0])) > LARGEST_EXPONENT:
            self.fail("this number is too long, or too far from 1")
        self.next += 1
        return sign * Fraction(text.replace("_", ""))


def _nearest(word: str, known: tuple[str, ...]) -> str:
    meant = SYNONYMS.get(word.lower())
    close = [meant] if meant in known else get_close_matches(word.lower(), known, 1, 0.5)
    guess = f" Did you mean '{close[0]}'?" if close else ""
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
