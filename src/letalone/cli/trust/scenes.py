"""`letalone demo --attacks`: each attack as a short scene, on made-up data.

What people publish today, what an attacker learns from it, and what is left of that where the
same goes through letalone. `SCENES` is the table: a row for each of `cli.trust.attack.ATTACKS`.

  Tested:   tests/cli/test_scenes.py
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import floor
from pkgutil import resolve_name
from textwrap import indent
from time import perf_counter
from typing import Any

from letalone.answers.promise import as_percent, most_caught
from letalone.attacks.result import AttackReport
from letalone.cli.offered import to_type
from letalone.cli.screen import console, flowing, in_short, print_json, progress_bar, put, say
from letalone.cli.trust.attack import ATTACKS
from letalone.errors.installing import how_to_install
from letalone.privacy import PureDP

EPSILON = 1.0
ANSWERS_OFF_BY = 5  # of the reconstruction: one of the errors that it tries by itself
MEANING = (
    "At most: by theorem, whatever the attacker knows or computes; where one person is found, with"
    " 5 % false alarms. Found: by a test that is meant to accuse 5 % of those who are not there."
)
Words = Callable[[Mapping[str, Any]], str]  # of the numbers that a result has for programs


@dataclass(frozen=True, slots=True)
class Scene:
    """What is published, what the attack of this name learns, and what is left of that."""

    published: str
    learned: Words
    left: Words
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
    needs: tuple[str, str] | None = None  # a package, and the extra that brings it

    @property
    def can_play(self) -> bool:
        return self.needs is None or find_spec(self.needs[0]) is not None


def _found(chance: float) -> str:
    return f"one person is found at most {as_percent(chance)} of the time."


def _most_found(numbers: Mapping[str, Any]) -> str:
    return _found(numbers["most_allowed"])


def _write_recovered(numbers: Mapping[str, Any]) -> str:
    (level,) = (level for level in numbers["plain"] if level["error"] == ANSWERS_OFF_BY)
    return f"{as_percent(level['linear_programme'])} of the secrets come back."


def _glowing(numbers: Mapping[str, Any]) -> str:
    (alone,) = (crowd["cells"] for crowd in numbers["crowds"] if crowd["people"] == "1")
    return f"{alone:,} of {alone:,} cells with one person in them glow."


def _told_codes(numbers: Mapping[str, Any]) -> str:
    (model,) = numbers["ordinary"]
    return f"the model tells {model['extracted']:,} of {len(model['exposures']):,} codes."


LEARN = ("sklearn", "learn")
SCENES = {
    "linkage": Scene(
        "a hospital's table without names. The voters' list has them.",
        lambda n: f"{n['certain_people']:,} of {n['people']:,} patients have their names back.",
        lambda n: _found(most_caught(PureDP(n["epsilon"]))),
    ),
    "pseudonyms": Scene(
        "taxi trips, each medallion as its hash.",
        lambda n: "{found:,} of {values:,} hashes are reversed.".format(**n["columns"][0]),
        _most_found,
    ),
    "histories": Scene(
        "film ratings without names. A friend knows three of yours.",
        lambda n: f"{as_percent(n['curves'][0]['unique'][2])} of people are told from all others.",
        _most_found,
        {"people": 200},
    ),
    "homer": Scene(
        "a study of 100 people: the frequencies of 1,000 alleles.",
        lambda n: (
            f"{as_percent(n['likelihood_ratio']['detection'])} of those who took part are found."
        ),
        _most_found,
        {"trials": 500},
    ),
    "heat-map": Scene("a map of where people ran, in town and in a desert.", _glowing, _most_found),
    "differencing": Scene(
        "exact answers about many people. Two of them differ in one.",
        lambda n: f"subtracting was right about {n['exact_right']:,} of {n['targets']:,} people.",
        lambda n: f"a bet at even odds is won at most {as_percent(n['best_guess'])} of the time.",
        {"targets": 10, "trials": 2_000},
    ),
    "reconstruction": Scene(
        f"400 sums over random halves of 100 people, each off by up to {ANSWERS_OFF_BY}.",
        _write_recovered,
        lambda n: (
            f"a guess at one secret is right at most {as_percent(n['most_allowed'])} of the time."
        ),
        {"trials": 20},
    ),
    "membership": Scene(
        "a model that predicts income from the rows of some people.",
        lambda n: (
            f"{as_percent(n['ordinary']['likelihood ratio']['usual']['detection'])} of those in its"
            " data are found."
        ),
        _most_found,
        {"models": 80, "shadows": 16},
        needs=LEARN,
    ),
    "inversion": Scene(
        "a model that predicts a dose from genes and habits.",
        lambda n: (
            f"{as_percent(n['ordinary']['detection'])} of the genes in its data are guessed right."
        ),
        lambda n: (
            f"this guess is right at most {as_percent(n['most_allowed'])} of the time, by its rate"
            " for strangers (95 % sure)."
        ),
        {"models": 80},
        needs=LEARN,
    ),
    "canaries": Scene(
        "a model of 20,000 lines of text. A door code is in one of them.",
        _told_codes,
        lambda n: (
            f"a guess is right at most once in {floor(1 / n['most_guessed']):,} times (blindly: in"
            f" {n['space']:,})."
        ),
        {"repetitions": 1},
    ),
}


@dataclass(frozen=True, slots=True)
class SceneResult:
    """A scene after the attack: what is learned from what is published today, and what is left."""

    attack: str
    published: str
    today: str
    letalone: str
    seconds: float
    result: AttackReport

    def to_json(self) -> dict[str, object]:
        fields: dict[str, object] = {name: getattr(self, name) for name in self.__slots__}
        return fields | {"result": self.result.to_json()}


def play_attacks(*, as_json: bool) -> None:
    """Play all scenes, each shown as soon as it is over."""
    start, scenes = perf_counter(), _play()
    if as_json:
        results = [scene.to_json() for scene in scenes]
        took = {"seconds": perf_counter() - start}
        more = {"attacks": results, "left_out": list(_left_out()), **took}
        print_json("demo", {"made_up": True, "epsilon": EPSILON, **more})
        return
    say(
        f"{len(SCENES) - len(_left_out())} attacks on what people publish today, and on the same"
        f" through letalone with ε = {in_short(EPSILON)}. The data is made up."
    )
    for scene in scenes:
        put(_result_text(scene, console().width))
    for name, extra in _left_out().items():
        put(f"{name} is left out. To install what it needs: {how_to_install(extra)}.")
    last = f"Played in {perf_counter() - start:.0f} seconds. One of them, in full or on a file:"
    say(MEANING, last + to_type("attack", next(iter(SCENES))))


def _play() -> Iterator[SceneResult]:
    scenes = {name: scene for name, scene in SCENES.items() if scene.can_play}
    for place, (name, scene) in enumerate(scenes.items()):
        start = perf_counter()
        with progress_bar(f"Attack {place + 1} of {len(scenes)}: {name}") as show:
            if show is not None:
                show(place / len(scenes))
            attack = resolve_name(f"letalone.attacks.{ATTACKS[name].function}")
            result = attack(epsilon=EPSILON, **scene.settings)
        numbers = result.to_json()
        today, left = scene.learned(numbers), scene.left(numbers)
        seconds = perf_counter() - start
        yield SceneResult(name, scene.published, today, left, seconds, result)


def _left_out() -> dict[str, str]:
    """The attacks that cannot be played here, each with the extra that it needs."""
    return {
        name: scene.needs[1] for name, scene in SCENES.items() if scene.needs and not scene.can_play
    }


def _result_text(played: SceneResult, width: int) -> str:
    lines = (
        ("", f"{played.attack}: {played.published}"),
        ("  ", f"today: {played.today}"),
        ("  ", f"ε = {in_short(EPSILON)}: {played.letalone}"),
    )
    return "\n".join(indent(flowing(text, width - len(before)), before) for before, text in lines)
