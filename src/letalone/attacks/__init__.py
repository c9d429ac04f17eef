"""What an attacker learns: from what people publish today, and from a private release.

    import letalone as la
    la.attacks.link().words

Each attack is a function on a table of one's own; without one it plays on made-up data, where
nobody exists. Its result has plain numbers, `.words`, `.to_json()` and `.plot()`. Everything here
looks at exact values and is for the owner of the data.
"""

from importlib import import_module

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
