"""Faults of the upper layers: tables, engines, session, learn."""

from faults.fault import Fault

FAULTS: tuple[Fault, ...] = ()
