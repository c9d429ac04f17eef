"""`letalone explain x.json`: what a release reveals, in a paragraph that can be quoted.

The receipt is checked first; the numbers come from the privacy curve that was charged, which
is part of what was signed.
"""

from pathlib import Path
from typing import cast

from letalone.answers.promise import best_guess, group_promise, most_caught, promise
from letalone.cli.screen import TOGETHER, print_json, say
from letalone.cli.verify import read_json
from letalone.errors import FormatError, LedgerDamaged, ParameterError
from letalone.ledger import Receipt, verify_receipt
from letalone.ledger.canonical import as_object
from letalone.privacy.curve import Json, Privacy
from letalone.privacy.stored import from_json

ALARM = 0.05


def explain_receipt(path: Path, *, key: str | None, as_json: bool) -> None:
    """Check a receipt and print what its answer can tell anyone about one person."""
    receipt = verify_receipt(_read_receipt(path), public_key=key)
    privacy = from_json(as_object(receipt.body["privacy"], name="The receipt"))
    questions = _questions(receipt)
    if as_json:
        print_json("explain receipt", _as_json(receipt, privacy, questions))
        return
    for paragraph in (_opening(receipt, questions), promise(privacy), group_promise(privacy)):
        together = paragraph.replace(" %", f"{TOGETHER}%").replace(" = ", f"{TOGETHER}={TOGETHER}")
        say(f"{together}\n")
    say(_trust(receipt))


def _read_receipt(path: Path) -> Json:
    stored = read_json(path)
    if stored.get("kind") == "ledger":
        raise ParameterError(
            f"{path} is an exported ledger, but explain takes the receipt of one answer."
        )
    return stored


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


def _trust(receipt: Receipt) -> str:
    if receipt.compared:
        return f"Checked: signed by the key that you gave, {receipt.fingerprint}."
    return (
        f"Checked: unchanged since it was signed by the key {receipt.fingerprint}. Compare that"
        " with the owner's, or give it with --key."
    )


def _as_json(receipt: Receipt, privacy: Privacy, questions: list[str]) -> dict[str, object]:
    body = receipt.body
    return {
        **{name: body[name] for name in ("data_set", "version", "time")},
        "questions": questions,
        **{name: body[name] for name in ("epsilon", "delta", "neighbours")},
        "best_guess": best_guess(privacy),
        "false_alarm": ALARM,
        "caught": most_caught(privacy, ALARM),
        "paragraph": promise(privacy),
        "for_ten": group_promise(privacy),
        "fingerprint": receipt.fingerprint,
        "compared": receipt.compared,
    }
