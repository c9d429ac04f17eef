"""The answers to a batch, as people see them: each with its price, what is shared said once.

Tested:   tests/session/test_batches.py
"""

from collections.abc import Sequence

from letalone.answers import views
from letalone.privacy import Budget
from letalone.session.release import Release


class Batch(list[Release]):
    """The answers to several questions, in their order, charged as one; a list of releases."""

    __slots__ = ()

    def __str__(self) -> str:
        shared = [note for note in self[0].notes if all(note in one.notes for one in self)]
        answers = [
            f"{place} of {len(self)}: {_answer(one, shared)}" for place, one in enumerate(self, 1)
        ]
        return "\n\n".join([*answers, views.flowing([*_listed(shared), *_together(self)])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return views.lines_as_html(str(self))


def _answer(release: Release, shared: Sequence[str]) -> str:
    own = [note for note in release.notes if note not in shared]
    price = Budget(release.asked.epsilon, release.asked.delta)
    table = views.as_text(release.keys, release.shown, [*_listed(own), f"Price: {price}."])
    return f"{release.asked.question}\n{table}"


def _together(releases: Sequence[Release]) -> list[str]:
    """What holds for all: each was charged at the same moment, to the same budget."""
    standing, unit = releases[0].standing, releases[0].privacy.neighbours
    sure = f"{100 * releases[0].confidence:g} %"
    again = "The same batch was answered before: these are those answers, and they are free."
    said = [standing.remark, again if standing.repeated else None, standing.left]
    return [
        f"All protect: {unit}. Each interval is right {sure} of the time.",
        *(str(line) for line in said if line is not None),
    ]


def _listed(notes: Sequence[str]) -> list[str]:
    return [f"- {note}" for note in notes]
