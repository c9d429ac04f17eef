"""The same question under other names: its answer is there already, and is told again for nothing.

What the columns of an answer are called decides nothing of their law. So a question is known by its
plan without the names of groups and aggregates, and an earlier answer under other names is given
the new ones. Its receipt is the one that was signed, with the names of then.

Theorem.  Renaming the columns of a release is post-processing: it reveals nothing more.
  Proven:   it is a function of the release and of the question alone
  Tested:   tests/session/test_other_names.py
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar, cast

from letalone.answers.release import ReleaseRecord, Terms
from letalone.privacy.curve import Json

Record = TypeVar("Record", bound=ReleaseRecord)


def nameless(plan: Json) -> Json:
    """A stored plan whose groups and aggregates are called by their places."""
    groups = cast("list[Json]", plan["groups"])
    aggregates = cast("list[tuple[str, object]]", plan["aggregates"])
    return {
        **plan,
        "groups": [{**group, "name": str(place)} for place, group in enumerate(groups)],
        "aggregates": [[str(place), aggregate] for place, (_, aggregate) in enumerate(aggregates)],
    }


def rename_release(
    release: Record, terms: Terms, *, groups: Sequence[str], columns: Sequence[tuple[str, str]]
) -> Record:
    """The release with the names of a question that is the same but for them.

    `columns` has for each output its name and its aggregate's.
    """
    if release.asked.plan == terms.plan:
        return release
    keys = zip(release.keys, groups, strict=True)
    outputs = zip(release.outputs, columns, strict=True)
    return replace(
        release,
        asked=terms,
        keys=tuple(replace(key, name=name) for key, name in keys),
        outputs=tuple(replace(part, name=name, aggregate=word) for part, (name, word) in outputs),
    )
