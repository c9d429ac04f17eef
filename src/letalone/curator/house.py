"""What all parts of a curator stand on."""

from dataclasses import dataclass

from letalone.curator.book import Book
from letalone.curator.database import Database
from letalone.curator.keys import MasterKey
from letalone.curator.settings import Settings
from letalone.curator.steady import Steady
from letalone.curator.words import Clock
from letalone.engines.lockdown import Room


@dataclass(frozen=True, slots=True)
class House:
    """Settings, database, the ledger's book, master key, time, steady clock, room."""

    settings: Settings
    database: Database
    book: Book
    master: MasterKey
    clock: Clock
    steady: Steady
    room: Room
