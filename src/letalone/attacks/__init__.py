"""What an attacker learns: from what people publish today, and from a private release.

    import letalone as la
    la.attacks.link().words

Each attack is a function on a table of one's own; without one it plays on made-up data, where
nobody exists. Its result has plain numbers, `.words`, `.to_json()` and `.plot()`. Everything here
looks at exact values and is for the owner of the data.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from letalone.attacks.differencing import Differencing as Differencing
    from letalone.attacks.differencing import subtract as subtract
    from letalone.attacks.frequencies import Membership as Membership
    from letalone.attacks.frequencies import Power as Power
    from letalone.attacks.frequencies import trace_member as trace_member
    from letalone.attacks.heat_map import Crowd as Crowd
    from letalone.attacks.heat_map import HeatMap as HeatMap
    from letalone.attacks.heat_map import find_cells as find_cells
    from letalone.attacks.histories import Curve as Curve
    from letalone.attacks.histories import Histories as Histories
    from letalone.attacks.histories import single_out as single_out
    from letalone.attacks.linkage import Linkage as Linkage
    from letalone.attacks.linkage import link as link
    from letalone.attacks.pseudonyms import Pseudonyms as Pseudonyms
    from letalone.attacks.pseudonyms import Reversed as Reversed
    from letalone.attacks.pseudonyms import reverse_hashes as reverse_hashes
    from letalone.attacks.rates import Rates as Rates

# name -> its file, which is called otherwise: importing it would hide the function
_HOMES = {
    "Crowd": "heat_map",
    "Curve": "histories",
    "Differencing": "differencing",
    "HeatMap": "heat_map",
    "Histories": "histories",
    "Linkage": "linkage",
    "Membership": "frequencies",
    "Power": "frequencies",
    "Pseudonyms": "pseudonyms",
    "Rates": "rates",
    "Reversed": "pseudonyms",
    "find_cells": "heat_map",
    "link": "linkage",
    "reverse_hashes": "pseudonyms",
    "single_out": "histories",
    "subtract": "differencing",
    "trace_member": "frequencies",
}

__all__ = [
    "Crowd",
    "Curve",
    "Differencing",
    "HeatMap",
    "Histories",
    "Linkage",
    "Membership",
    "Power",
    "Pseudonyms",
    "Rates",
    "Reversed",
    "find_cells",
    "link",
    "reverse_hashes",
    "single_out",
    "subtract",
    "trace_member",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'letalone.attacks' has no attribute {name!r}")
    return getattr(import_module(f"letalone.attacks.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
