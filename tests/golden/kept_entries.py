"""Entries of a ledger without times, keys and versions of libraries."""

from typing import Any

import letalone as la


def charged_in(ledger: la.Ledger, name: str | None = None) -> list[dict[str, Any]]:
    """What was charged: digest and plan."""
    bodies = [entry.body for entry in ledger.entries(name) if entry.kind.value == "reserved"]
    return [{name: body[name] for name in ("digest", "plan")} for body in bodies]


def dumped(ledger: la.Ledger) -> list[dict[str, Any]]:
    """All entries; the hashes that chain them follow from times, which differ."""
    return [
        {"number": entry.number, "kind": entry.kind.value, "name": entry.name}
        | in_short_form(dict(entry.body))
        for entry in ledger.entries()
    ]


def in_short_form(body: dict[str, Any]) -> dict[str, Any]:
    """A body whose accounts take a line each."""
    if "versions" in body:
        body["versions"] = sorted(body["versions"])
    after = body.get("after")
    if isinstance(after, dict) and isinstance(after.get("state"), dict):
        state = after["state"]
        lines = [" ".join(f"{name}={value}" for name, value in one.items())
                 for one in state.get("accounts", [])]  # fmt: skip
        body["after"] = {**after, "state": {**state, "accounts": lines}}
    return body
