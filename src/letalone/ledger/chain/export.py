"""A ledger as one JSON file that others can check without the ledger, and without its key."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from letalone.errors import FormatError, LedgerUnavailable, ParameterError
from letalone.errors.spelling import check_format
from letalone.exact.typed import expand_home
from letalone.ledger.chain.canonical import canonical, read_object, text_digest
from letalone.ledger.chain.replay import Replay
from letalone.ledger.chain.verification import Stored, Verified, check_settlements, conclude
from letalone.ledger.storage.tables import Head, Settlement
from letalone.ledger.storage.transaction import LedgerTransaction
from letalone.privacy.curve import Json

FORMAT = 2  # the second knows levels, shared answers and checkpoints
KIND = "ledger"
DAMAGE = (ValueError, LookupError, TypeError, AttributeError)


def export(books: LedgerTransaction) -> Json:
    """All entries with their releases, and the signed head."""
    answers = {
        str(settlement.settled): None
        if settlement.release is None
        else read_object(settlement.release, name="Release")
        for settlement in books.settlements()
    }
    return {
        "format": FORMAT,
        "kind": KIND,
        "head": {**books.head()._asdict()},
        "entries": [read_object(row.text, name="Entry") for row in books.rows()],
        "releases": answers,
    }


def write_export(content: Json, path: str | os.PathLike[str], *, ledger: Path | None) -> Path:
    """Write the file whole or not at all, and never over the ledger."""
    place = expand_home(path).absolute()
    if ledger is not None and place.exists() and place.samefile(ledger):
        raise ParameterError(f"{place} is the ledger itself. Name another file to export to.")
    unfinished = place.with_name(f"{place.name}.unfinished")
    try:
        unfinished.write_text(canonical(content, name="ledger"), encoding="utf-8")
        unfinished.replace(place)
    except OSError as error:
        raise LedgerUnavailable(
            f"{place} cannot be written: {error.strerror}. Name a place that you may write to."
        ) from None
    return place


def verify_export(
    stored: Stored, *, head: str | None = None, checkpoints: Sequence[Stored] = ()
) -> Verified:
    """Check an exported ledger as `Ledger.verify` checks the file; LedgerDamaged where it fails."""
    name = "The exported ledger"
    fields = read_object(stored, name=name)
    wrong = "This is not an exported ledger: it must be what `letalone ledger export` writes."
    check_format(name, fields, FORMAT, kind=KIND, otherwise=wrong)
    try:
        last = Head(**cast("dict[str, str]", fields["head"]))  # pyright: ignore[reportArgumentType]
        texts = [canonical(entry) for entry in cast("list[Json]", fields["entries"])]
        releases = dict(cast("dict[str, Json | None]", fields["releases"]))
    except DAMAGE:
        raise FormatError(f"{name} is damaged: a part is missing or unknown.") from None
    replay = Replay()
    for text in texts:
        replay.read(text)
    check_settlements(replay, _settlements(replay, releases))
    if releases:
        raise FormatError(f"{name} is damaged: it has answers that no entry names.")
    return conclude(replay, last, head=head, checkpoints=checkpoints)


def _settlements(replay: Replay, releases: dict[str, Json | None]) -> Iterator[Settlement]:
    """The settlements that the export holds; what is taken is gone from `releases`."""
    for settlement, _ in replay.settled.values():
        number = str(settlement.settled)
        if number in releases:
            release = releases.pop(number)
            text = None if release is None else canonical(release)
            digest = None if text is None else text_digest(text)
            yield settlement._replace(release=text, release_digest=digest)
