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
    from letalone.attacks.canaries import Canaries as Canaries
    from letalone.attacks.canaries import Exposed as Exposed
    from letalone.attacks.canaries import extract_secrets as extract_secrets
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
    from letalone.attacks.inversion import ModelInversion as ModelInversion
    from letalone.attacks.inversion import invert_model as invert_model
    from letalone.attacks.inversion import rows_in_model as rows_in_model
    from letalone.attacks.linkage import Linkage as Linkage
    from letalone.attacks.linkage import link as link
    from letalone.attacks.membership import ModelMembership as ModelMembership
    from letalone.attacks.membership import infer_membership as infer_membership
    from letalone.attacks.pseudonyms import Pseudonyms as Pseudonyms
    from letalone.attacks.pseudonyms import Reversed as Reversed
    from letalone.attacks.pseudonyms import reverse_hashes as reverse_hashes
    from letalone.attacks.rates import Rates as Rates
    from letalone.attacks.reconstruction import Guesses as Guesses
    from letalone.attacks.reconstruction import Protected as Protected
    from letalone.attacks.reconstruction import Reconstruction as Reconstruction
    from letalone.attacks.reconstruction import Recovered as Recovered
    from letalone.attacks.reconstruction import reconstruct as reconstruct
    from letalone.attacks.shadows import Test as Test

# file -> its public names; importing a file that is called as its function would hide that
_FILES = {
    "canaries": "Canaries Exposed extract_secrets",
    "differencing": "Differencing subtract",
    "frequencies": "Membership Power trace_member",
    "heat_map": "Crowd HeatMap find_cells",
    "histories": "Curve Histories single_out",
    "inversion": "ModelInversion invert_model rows_in_model",
    "linkage": "Linkage link",
    "membership": "ModelMembership infer_membership",
    "pseudonyms": "Pseudonyms Reversed reverse_hashes",
    "rates": "Rates",
    "reconstruction": "Guesses Protected Reconstruction Recovered reconstruct",
    "shadows": "Test",
}
_HOMES = {name: file for file, names in _FILES.items() for name in names.split()}

__all__ = sorted(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'letalone.attacks' has no attribute {name!r}")
    return getattr(import_module(f"letalone.attacks.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
