"""`letalone verify FILE`: whether a receipt, a model, a checkpoint or an exported ledger holds.

`letalone explain x.json` checks a receipt, too, and says what its answer reveals, in a paragraph
that can be quoted: the numbers come from the privacy curve that was charged, which is part of what
was signed.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from letalone.answers.promise import FALSE_ALARMS, best_guess, group_promise, most_caught, promise
from letalone.cli.offered import to_type
from letalone.cli.screen import console, print_json, put, say
from letalone.cli.trust.ledger_commands import tell_verified
from letalone.errors import FormatError, LedgerDamaged, ParameterError
from letalone.learn import model_files
from letalone.ledger import Receipt, verify_export, verify_receipt
from letalone.ledger.chain.canonical import as_object, read_object
from letalone.ledger.chain.checkpoints import KIND as CHECKPOINT
from letalone.ledger.chain.checkpoints import check_signed
from letalone.privacy.curve import Json, Privacy
from letalone.privacy.stored import from_json

LONGEST = 56
OTHER_KINDS = {"ledger": "an exported ledger", CHECKPOINT: "a checkpoint"}
COMPARED = "It was signed by the key that you gave."
NOT_COMPARED = (
    "Anyone can make a key and sign with it: compare the fingerprint with the owner's, "
    "which `letalone ledger show` prints there, or give it with --key."
)


def verify(
    path: Path, *, key: str | None, head: str | None, checkpoints: Sequence[Path], as_json: bool
) -> None:
    """Check a file by what it says it is."""
    stored = _read_json(path)
    if stored.get("kind") == "ledger":
        if key is not None:
            raise ParameterError("--key is for receipts; for an exported ledger give --head.")
        kept = [_read_json(checkpoint) for checkpoint in checkpoints]
        verified = verify_export(stored, head=head, checkpoints=kept)
        tell_verified("verify", verified, as_json=as_json, kind="ledger")
        return
    if head is not None or checkpoints:
        raise ParameterError("--head and --checkpoint are for exported ledgers; this is none.")
    if stored.get("kind") == CHECKPOINT:
        _check_checkpoint(stored, key=key, as_json=as_json)
    elif stored.get("kind") == model_files.MODEL_FILE.kind:
        _check_model(stored, key=key, as_json=as_json)
    else:
        _check_receipt(_alone(path, stored), key=key, as_json=as_json)


def _read_json(path: Path) -> Json:
    """What a file holds; one of another kind is not damaged: it was never a receipt."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ParameterError(f"{path} cannot be read: {error.strerror}.") from None
    if not content.lstrip().startswith(b"{"):
        raise ParameterError(
            f"{path} is not a receipt, model, checkpoint or exported ledger, which are JSON files:"
            " `letalone query … --receipt FILE` and `letalone ledger export` write them."
        )
    return read_object(content, name=str(path))


def _alone(path: Path, stored: Json) -> Json:
    """A whole answer of the service has its receipt in it; what is checked is the receipt."""
    if isinstance(stored.get("receipt"), dict) and "release" in stored:
        raise ParameterError(
            f"{path} is a whole answer. Its receipt is in the field 'receipt': save that part as a"
            " file, and verify it."
        )
    return stored


def _check_checkpoint(stored: Json, *, key: str | None, as_json: bool) -> None:
    fingerprint = check_signed(stored, public_key=key)
    compared = key is not None
    if as_json:
        body = {"kind": CHECKPOINT, "holds": True, "fingerprint": fingerprint, "compared": compared}
        print_json("verify", body | {name: stored[name] for name in ("number", "hash", "time")})
        return
    lines = [
        ("entry", f"{stored['number']}, signed {stored['time']}"),
        ("hash", str(stored["hash"])),
        ("fingerprint", fingerprint),
    ]
    more = ["Compare a ledger with it: letalone verify EXPORT --checkpoint FILE"]
    _show("checkpoint", lines, *more, compared=compared)


def _check_model(stored: Json, *, key: str | None, as_json: bool) -> None:
    _check_receipt(_receipt_of_model(stored, key=key), key=key, as_json=as_json)


def _receipt_of_model(stored: Json, *, key: str | None) -> Json:
    """The receipt in a model file, once it is clear that it was signed for this model."""
    content = model_files.MODEL_FILE.check(stored)
    if model_files.verify_signed(content, public_key=key) is None:
        raise ParameterError(
            "The model file is whole, but has no receipt: no ledger was charged for the model, so"
            " there is nothing to check it against. Fit it on a table, or with budget=."
        )
    return as_object(content["receipt"], name="The receipt")


def _check_receipt(stored: Json, *, key: str | None, as_json: bool) -> None:
    receipt = verify_receipt(stored, public_key=key)
    if as_json:
        shown = {"kind": "receipt", "holds": True, "fingerprint": receipt.fingerprint}
        print_json("verify", {**shown, "compared": receipt.compared, "body": receipt.body})
        return
    _show("receipt", _lines(receipt), compared=receipt.compared)


def _show(what: str, lines: Sequence[tuple[str, str]], *more: str, compared: bool) -> None:
    console().print(f"[bold]The {what} is unchanged since it was signed.[/bold]")
    put(*(f"{name:<12} {value}" for name, value in lines), *more)
    say(COMPARED if compared else NOT_COMPARED)


def _lines(receipt: Receipt) -> list[tuple[str, str]]:
    body = receipt.body
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
        ("fingerprint", receipt.fingerprint),
    ]
    return [(name, value if len(value) <= 64 else f"{value[:LONGEST]}...") for name, value in lines]


def explain_receipt(path: Path, *, key: str | None, as_json: bool) -> None:
    """Check a receipt and print what its answer can tell anyone about one person."""
    receipt = verify_receipt(_receipt_in(path, key=key), public_key=key)
    privacy = from_json(as_object(receipt.body["privacy"], name="The receipt"))
    questions = _questions(receipt)
    if as_json:
        print_json("explain receipt", _as_json(receipt, privacy, questions))
        return
    for paragraph in (_opening(receipt, questions), promise(privacy), group_promise(privacy)):
        say(f"{paragraph}\n")
    if receipt.compared:
        say(f"Checked: signed by the key that you gave, {receipt.fingerprint}.")
    else:
        say(
            f"Checked: unchanged since it was signed by the key {receipt.fingerprint}. Compare that"
            " with the owner's, or give it with --key."
        )


def _receipt_in(path: Path, *, key: str | None) -> Json:
    """The receipt of an answer or of a model, as `verify` finds it."""
    stored = _read_json(path)
    if (kind := stored.get("kind")) in OTHER_KINDS:
        raise ParameterError(
            f"{path} is {OTHER_KINDS[str(kind)]}, but explain takes the receipt of one answer or a"
            f" model. To check it:{to_type('verify', str(path))}"
        )
    if kind == model_files.MODEL_FILE.kind:
        return _receipt_of_model(stored, key=key)
    return _alone(path, stored)


def _questions(receipt: Receipt) -> list[str]:
    """What was asked, in the words of the release; none where another program settled it."""
    release = as_object(receipt.body["release"], name="The receipt")
    listed = release.get("releases")
    releases = cast("list[object]", listed) if isinstance(listed, list) else [release]
    try:
        texts = [as_object(stored, name="The release").get("question") for stored in releases]
    except (FormatError, LedgerDamaged):
        return []
    return [text for text in texts if isinstance(text, str)]


def _opening(receipt: Receipt, questions: list[str]) -> str:
    body = receipt.body
    in_words = f" ({'; and '.join(questions)})" if questions else ""
    day = str(body["time"]).split("T")[0]
    return (
        f"On {day} an answer{'s' * (len(questions) > 1)} about the data set {body['data_set']!r},"
        f" version {body['version']}, was released{in_words}, at the price of"
        f" ε = {body['epsilon']}, δ = {body['delta']}."
    )


def _as_json(receipt: Receipt, privacy: Privacy, questions: list[str]) -> dict[str, object]:
    body = receipt.body
    return {
        **{name: body[name] for name in ("data_set", "version", "time")},
        "questions": questions,
        **{name: body[name] for name in ("epsilon", "delta", "neighbours")},
        "best_guess": best_guess(privacy),
        "false_alarm": FALSE_ALARMS,
        "caught": most_caught(privacy),
        "paragraph": promise(privacy),
        "for_ten": group_promise(privacy),
        "fingerprint": receipt.fingerprint,
        "compared": receipt.compared,
    }
