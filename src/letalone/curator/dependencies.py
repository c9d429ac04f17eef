"""Dependencies that all parts of the service share: settings, stores, master key, clocks, room."""

from dataclasses import dataclass

from letalone.curator.database import Database
from letalone.curator.keys import MasterKey
from letalone.curator.ledger_view import LedgerView
from letalone.curator.settings import Settings
from letalone.curator.steady_clock import SteadyClock
from letalone.curator.words import Clock
from letalone.engines.lockdown import Room
from letalone.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What `Curator.open` makes once and hands to each part."""

    settings: Settings
    database: Database
    ledger: Ledger
    ledger_view: LedgerView
    master: MasterKey
    clock: Clock
    steady: SteadyClock
    room: Room
