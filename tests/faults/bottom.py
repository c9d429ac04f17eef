"""Faults of the bottom layers: exact, randomness, privacy, mechanisms, ledger, audit."""

from faults.fault import Fault

FAULTS: tuple[Fault, ...] = ()
