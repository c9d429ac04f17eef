"""What all parts of a curator stand on."""

from dataclasses import dataclass

from letalone.curator.database import Database
from letalone.curator.keys import MasterKey
from letalone.curator.ledger_view import LedgerView
from letalone.curator.settings import Settings
from letalone.curator.steady_clock import SteadyClock
from letalone.curator.words import Clock
from letalone.engines.lockdown import Room


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Settings, database, the ledger's book, master key, time, steady clock, room."""

    settings: Settings
    database: Database
    book: LedgerView
    master: MasterKey
    clock: Clock
    steady: SteadyClock
    room: Room
