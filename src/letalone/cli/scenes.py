"""`letalone demo --attacks`: each attack as a short scene, on made-up data.

What people publish today, what an attacker learns from it, and what is left of that where the
same goes through letalone. `SCENES` is the table: a row for each of `cli.attack.ATTACKS`.

  Tested:   tests/cli/test_scenes.py
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pkgutil import resolve_name
from textwrap import indent
from time import perf_counter

from letalone.attacks.result import AttackReport
from letalone.cli.attack import ATTACKS
from letalone.cli.offered import to_type
from letalone.cli.screen import console, flowing, in_short, print_json, progress_bar, put, say

EPSILON = 1.0
FIRST = re.compile(r", | \((?!D6)")  # behind it a second number stands, or an error bar
MEANING = (
    "At most: by theorem, whatever the attacker knows or computes; where one person is found, with"
    " 5 % false alarms. Found: by a test that is meant to accuse 5 % of those who are not there."
)


@dataclass(frozen=True, slots=True)
class SceneNumber:
    """A number of a result: how its line begins, and what to say of it."""

    line: str
    words: str

    def told(self, result: AttackReport, *, private: bool) -> str:
        """The words, with the number today or the one through letalone; of several, the first."""
        line = next(line for line in result.lines() if line[0].strip().startswith(self.line))
        return self.words.format(FIRST.split(line[2] if private else line[1])[0])


@dataclass(frozen=True, slots=True)
class Scene:
    """What is published, what the attack of this name learns, and what is left of that."""

    published: str
    learned: SceneNumber
    left: SceneNumber
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
    needs: tuple[str, str] | None = None  # a package, and the extra that brings it

    @property
    def can_play(self) -> bool:
        return self.needs is None or find_spec(self.needs[0]) is not None


LEARN = ("sklearn", "learn")
PERSON = "one person is found {} of the time."
FOUND = SceneNumber("one person found", PERSON)
SCENES = {
    "linkage": Scene(
        "a hospital's table without names. The voters' list has them.",
        SceneNumber("people found", "{} patients have their names back."),
        FOUND,
    ),
    "pseudonyms": Scene(
        "taxi trips, each medallion as its hash.",
        SceneNumber("medallion (MD5): reversed", "{} hashes are reversed."),
        FOUND,
    ),
    "histories": Scene(
        "film ratings without names. A friend knows three of yours.",
        SceneNumber("3 points known (film, month)", "{} of people are told from all others."),
        SceneNumber("3 points known (film, month)", PERSON),
        {"people": 200},
    ),
    "homer": Scene(
        "a study of 100 people: the frequencies of 1,000 alleles.",
        SceneNumber("participants found", "{} of those who took part are found."),
        SceneNumber("any test whatever", PERSON),
        {"trials": 500},
    ),
    "heat-map": Scene(
        "a map of where people ran, in town and in a desert.",
        SceneNumber("cells that show, of those with 1", "{} cells with one person in them glow."),
        SceneNumber("one person in a cell found", PERSON),
    ),
    "differencing": Scene(
        "exact answers about many people. Two of them differ in one.",
        SceneNumber("right about a person", "subtracting was right about {} people."),
        SceneNumber("bets at even odds won", "a bet at even odds is won {} of the time."),
        {"targets": 10, "trials": 2_000},
    ),
    "reconstruction": Scene(
        "400 sums over random halves of 100 people, each off by up to 5.",
        SceneNumber("off by up to 5", "{} of the secrets come back."),
        SceneNumber("sure of one person", "a guess at one secret is right {} of the time."),
        {"trials": 20},
    ),
    "membership": Scene(
        "a model that predicts income from the rows of some people.",
        SceneNumber("likelihood ratio: found", "{} of those in its data are found."),
        SceneNumber("any test whatever", PERSON),
        {"models": 80, "shadows": 16},
        needs=LEARN,
    ),
    "inversion": Scene(
        "a model that predicts a dose from genes and habits.",
        SceneNumber("gene guessed, of members", "{} of the genes in its data are guessed right."),
        SceneNumber(
            "any guess about members",
            "this guess is right {} of the time, by its rate for strangers (95 % sure).",
        ),
        {"models": 80},
        needs=LEARN,
    ),
    "canaries": Scene(
        "a model of 20,000 lines of text. A door code is in one of them.",
        SceneNumber("secrets extracted", "the model tells {} codes."),
        SceneNumber("any guess", "a guess is right {} times (blindly: in 100,000)."),
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
        put(f"{name} is left out: it needs letalone[{extra}].")
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
        today = scene.learned.told(result, private=False)
        left = scene.left.told(result, private=True)
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
