"""`letalone demo`: private answers, their error bars and their price, side by side."""

from collections.abc import Sequence
from dataclasses import asdict

from letalone.cli.explain_epsilon import best_guess
from letalone.cli.questions import CONFIDENCE, Line, Patients, Question, ask_all
from letalone.cli.screen import (
    console,
    in_short,
    percent,
    print_json,
    program_name,
    rounded_down,
    rounded_up,
    table,
)
from letalone.privacy import Privacy, compose
from letalone.sample.hospital import visits

SAMPLE_SEED = 1890  # of Warren and Brandeis: The right to privacy


def demo(*, as_json: bool) -> None:
    """Ask the questions and print what came back."""
    patients = Patients.of(visits(seed=SAMPLE_SEED))
    questions = ask_all(patients)
    total = compose(*(question.privacy for question in questions))
    if as_json:
        _print_json(len(patients), questions, total)
    else:
        _show(len(patients), questions, total)


def _print_json(patients: int, questions: Sequence[Question], total: Privacy) -> None:
    shown = [
        {
            "question": question.text,
            "epsilon": question.privacy.epsilon(0),
            "answers": [asdict(line) for line in question.lines],
        }
        for question in questions
    ]
    content = {"made_up": True, "patients": patients, "neighbours": "replace one patient"}
    price = {"confidence": CONFIDENCE, "epsilon": total.epsilon(0), "delta": 0}
    print_json("demo", content | {"questions": shown} | price)


def _show(patients: int, questions: Sequence[Question], total: Privacy) -> None:
    rows = table(
        "patients", "private answer", "error bar (95 %)", "ε", "truth*",
        right=("private answer", "error bar (95 %)", "ε", "truth*"),
    )  # fmt: skip
    for question in questions:
        for place, line in enumerate(question.lines):
            price = in_short(question.privacy.epsilon(0)) if place == 0 else ""
            answer, truth = _number(line, line.value), _number(line, line.truth)
            rows.add_row(line.label, f"[bold]{answer}[/bold]", _bar(line), price, truth)
    rows.add_row("all together", "", "", f"[bold]{in_short(total.epsilon(0))}[/bold]", "")
    screen = console()
    screen.print(f"A hospital that does not exist: {patients:,} patients, 1 to 20 visits each.")
    screen.print("One patient counts once in a line, and in no more than two wards.\n")
    screen.print(rows)
    screen.print(_meaning(total))


def _number(line: Line, value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.{_digits(line)}f}{line.unit}"


def _bar(line: Line) -> str:
    if line.low is None or line.high is None:
        return f"≤ {rounded_up(line.shortfall or 0, 0)} fewer"
    low, high = rounded_down(line.low, _digits(line)), rounded_up(line.high, _digits(line))
    return f"{low} … {high}{line.unit}"


def _digits(line: Line) -> int:
    return 0 if isinstance(line.value, int) else 1


def _meaning(total: Privacy) -> str:
    epsilon, guess = in_short(total.epsilon(0)), percent(best_guess(total))
    program = program_name()
    return f"""\
* shown only because the data are made up

ε = {epsilon} is the price of all this, for any one patient with all visits: who bets at
even odds on which of two records is theirs wins at most {guess} of the time.

Run it again and see the noise change. Then try
  {program} explain epsilon {epsilon}
  {program} noise geometric 42 --epsilon 0.5 --sensitivity 1"""
