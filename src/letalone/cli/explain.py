"""`letalone explain epsilon` and `letalone explain x.json`: what a number or an answer promises.

An epsilon is told in words and in a picture, the trade-off curve: whoever looks at the answers and
says "this person is in the data" is sometimes wrong both ways, and below the curve nobody can be.
A receipt is checked first, and told in a paragraph that can be quoted; its numbers come from the
privacy curve that was charged, which is part of what was signed.

  Proven:   docs/explanation/proofs (the curve); (1 + delta(0)) / 2 is the best chance of a
            right guess at even odds, because delta(0) is the total variation distance
  Tested:   against e^epsilon / (1 + e^epsilon) and the corner of the pure curve
"""

from math import ceil, exp, log
from pathlib import Path
from typing import cast

from letalone.answers.promise import at_most, best_guess, group_promise, most_caught, promise
from letalone.cli.screen import (
    TOGETHER,
    console,
    in_short,
    number_text,
    percent_text,
    print_json,
    put,
    rounded_up,
    say,
)
from letalone.cli.verify import read_json
from letalone.errors import FormatError, LedgerDamaged, ParameterError
from letalone.ledger import Receipt, verify_receipt
from letalone.ledger.canonical import as_object
from letalone.privacy import ApproxDP, Privacy, PureDP
from letalone.privacy.curve import Json
from letalone.privacy.stored import from_json

ROWS, COLUMNS = 9, 42
ALARM = 0.05
LARGEST_FACTOR = 20.0  # beyond e^20 a power of ten says more
USUAL = (0.1, 0.5, 1.0, 2.0, 5.0)

LABELS = {0: "100 %", ROWS // 2: "50 %", ROWS - 1: "0 %"}
LEGEND = "░ nobody gets here   · blind guessing"


def explain_epsilon(epsilon: float, *, delta: float, as_json: bool) -> None:
    """Print what (epsilon, delta) promises."""
    privacy = ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
    guess, caught = best_guess(privacy), most_caught(privacy, ALARM)
    if as_json:
        promised = {"epsilon": epsilon, "delta": delta, "best_guess": guess}
        test = {"false_alarm": ALARM, "caught": caught, "curve": _curve(privacy)}
        print_json("explain epsilon", promised | test)
        return
    screen = console()
    for paragraph in _words(epsilon, delta, guess, caught):
        screen.print(paragraph)
    put("", *picture(privacy))
    others = [f"{usual:g}: {percent_text(best_guess(PureDP(usual)))}" for usual in USUAL]
    shown = "  ".join(other.replace(" ", TOGETHER) for other in others)
    put("")
    say(f"Won at most, by ε:  {shown}")


def factor(epsilon: float) -> str:
    """e^epsilon, rounded up."""
    if epsilon <= LARGEST_FACTOR:
        return rounded_up(exp(epsilon) * (1 + 2.0**-50), 2)
    return f"10^{ceil(epsilon / log(10))}"


def picture(privacy: Privacy) -> list[str]:
    """The trade-off curve in characters: shaded where no test can be."""
    reach = [privacy.tradeoff((column + 0.5) / COLUMNS) for column in range(COLUMNS)]
    lines = [f"  missed   {LEGEND}"]
    for row in range(ROWS):
        cells = "".join(_cell(row, column, reach[column]) for column in range(COLUMNS))
        lines.append(f"{LABELS.get(row, ''):>7} │{cells}")
    lines.append(f"{'':>8}└" + "─" * COLUMNS)
    lines.append(f"{'':>9}0 %{'false alarms':^{COLUMNS - 8}}100 %")
    return lines


def _cell(row: int, column: int, reach: float) -> str:
    if int((column + 0.5) / COLUMNS * ROWS) == row:
        return "·"
    return "░" if 1 - (row + 0.5) / ROWS < reach else " "


def _curve(privacy: Privacy) -> list[tuple[float, float]]:
    return [(step / 20, privacy.tradeoff(step / 20)) for step in range(21)]


def _words(epsilon: float, delta: float, guess: float, caught: float) -> list[str]:
    """One line each, that the screen may break where it is narrow."""
    more = (
        f" On top of that, probabilities may differ by δ = {number_text(delta)}." if delta else ""
    )
    return [
        f"[bold]ε = {in_short(epsilon)}[/bold] promises: take one person out of the data, or"
        " change all it says of them, and no answer becomes more than"
        f" {factor(epsilon)} times as likely as it was.{more}\n",
        "Was this person in the data? From the answers, and whatever else they know,",
        f"- those who bet at even odds win [bold]{at_most(guess)}[/bold] (blindly: 50 %);",
        f"- a test with 5 % false alarms finds {at_most(caught, 'of people')} (blindly: 5 %).",
    ]


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
