"""`letalone verify FILE`: whether a receipt, a model or an exported ledger is as it was signed."""

from pathlib import Path
from typing import cast

from letalone.cli.ledger import print_verified, verified_as_json
from letalone.cli.screen import console, flowing, print_json
from letalone.errors import ParameterError
from letalone.learn import model_files
from letalone.ledger import Receipt, verify_export, verify_receipt
from letalone.ledger.canonical import as_object, read_object
from letalone.privacy.curve import Json

WIDTH = 78
LONGEST = 56


def verify(path: Path, *, key: str | None, head: str | None, as_json: bool) -> None:
    """Check a receipt or an export, by what the file says it is."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ParameterError(f"{path} cannot be read: {error.strerror}.") from None
    check_is_json(path, content)
    stored = read_object(content, name=str(path))
    if stored.get("kind") == "ledger":
        _refuse_key(key)
        _check_export(stored, head=head, as_json=as_json)
        return
    if stored.get("kind") == model_files.KIND:
        _check_model(stored, key=key, as_json=as_json)
        return
    if head is not None:
        raise ParameterError("--head is for exported ledgers; this is no such file.")
    _check_receipt(stored, key=key, as_json=as_json)


def check_is_json(path: Path, content: bytes) -> None:
    """A file of another kind is not damaged: it was never a receipt."""
    if not content.lstrip().startswith(b"{"):
        raise ParameterError(
            f"{path} is no receipt and no exported ledger, which are JSON files: `letalone query"
            " … --receipt FILE` and `letalone ledger export` write them."
        )


def _refuse_key(key: str | None) -> None:
    if key is not None:
        raise ParameterError("--key is for receipts; for an exported ledger give --head.")


def _check_export(stored: Json, *, head: str | None, as_json: bool) -> None:
    found = verify_export(stored, head=head)
    if as_json:
        print_json("verify", {"kind": "ledger", **verified_as_json(found)})
        return
    print_verified(found)


def _check_model(stored: Json, *, key: str | None, as_json: bool) -> None:
    """A model file, and that its receipt was signed for this model."""
    content = model_files.checked(stored)
    if model_files.signed(content, public_key=key) is None:
        raise ParameterError(
            "The model file is whole, but has no receipt: no ledger was charged for the model, so"
            " there is nothing to check it against. Fit it on a table, or with budget=."
        )
    _check_receipt(as_object(content["receipt"], name="The receipt"), key=key, as_json=as_json)


def _check_receipt(stored: Json, *, key: str | None, as_json: bool) -> None:
    found = verify_receipt(stored, public_key=key)
    if as_json:
        shown = {"kind": "receipt", "holds": True, "fingerprint": found.fingerprint}
        print_json("verify", {**shown, "compared": found.compared, "body": found.body})
        return
    screen = console()
    screen.print("[bold]The receipt is unchanged since it was signed.[/bold]")
    for name, value in _lines(found):
        screen.print(f"{name:<12} {value}", markup=False)
    screen.print(flowing(_trust(found), WIDTH), markup=False)


def _lines(found: Receipt) -> list[tuple[str, str]]:
    body = found.body
    label = cast("dict[str, str | None] | None", body["neighbours"]) or {}
    relation = str(label.get("relation") or "not named").replace("add/", "add or ")
    unit = label.get("unit") or "unit"
    programs = cast("dict[str, str | None]", body["versions"])
    lines = [
        ("data set", f"{body['data_set']}, version {body['version']}"),
        ("protects", f"each {unit} ({relation} one)"),
        ("price", f"ε = {body['epsilon']}, δ = {body['delta']}"),
        ("question", str(body["digest"])),
        ("entry", f"{body['entry']}, settled {body['time']}"),
        ("letalone", str(programs.get("letalone"))),
        ("fingerprint", found.fingerprint),
    ]
    return [(name, value if len(value) <= 64 else f"{value[:LONGEST]}...") for name, value in lines]


def _trust(found: Receipt) -> str:
    if found.compared:
        return "It was signed by the key that you gave."
    return (
        "Anyone can make a key and sign with it: compare the fingerprint with the owner's, "
        "which `letalone ledger show` prints there, or give it with --key."
    )
