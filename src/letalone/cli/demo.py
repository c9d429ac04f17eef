"""`letalone demo`: private answers, their error bars and their price, side by side."""

from collections.abc import Sequence
from dataclasses import asdict

from rich.table import Table

from letalone.answers.promise import best_guess
from letalone.cli.questions import CENTS, CONFIDENCE, MOST_CENTS, Line, Patients, Question, ask_all
from letalone.cli.screen import (
    TOGETHER,
    WIDEST,
    console,
    flowing,
    in_short,
    percent,
    print_json,
    program_name,
    rounded_down,
    rounded_up,
    table,
)
from letalone.privacy import Privacy, PureDP, compose
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
    screen = console()
    roomy = screen.width >= WIDEST
    opening = f"A hospital that does not exist: {patients:,} patients, 1 to 20 visits each."
    screen.print(flowing(opening, screen.width))
    screen.print(_table(questions, total, roomy=roomy))
    for paragraph in (_footnote(roomy=roomy), _meaning(total)):
        screen.print(flowing(paragraph, screen.width) + "\n", markup=False)
    program = program_name()
    screen.print("Run it again and see the noise change. Then try")
    for words in (
        f"explain epsilon {in_short(total.epsilon(0))}",
        "init my.csv    (a file of yours)",
    ):
        screen.print(f"  {program} {words}", markup=False, soft_wrap=True)  # to be copied whole


def _table(questions: Sequence[Question], total: Privacy, *, roomy: bool) -> Table:
    """The answers; a narrow terminal has no column of exact ones."""
    numbers = ("private", "error bar (95 %)", "ε", *(("exact*",) if roomy else ()))
    rows = table("patients", *numbers, right=numbers)
    for question in questions:
        for place, line in enumerate(question.lines):
            price = in_short(question.privacy.epsilon(0)) if place == 0 else ""
            exact = (_number(line, line.exact),) if roomy else ()
            answer = f"[bold]{_number(line, line.value)}[/bold]"
            rows.add_row(line.label, answer, _bar(line, roomy=roomy), price, *exact)
    rows.add_row("all together", "", "", f"[bold]{in_short(total.epsilon(0))}[/bold]")
    return rows


def _number(line: Line, value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.{_digits(line)}f}{line.unit}"


def _bar(line: Line, *, roomy: bool) -> str:
    if line.low is None or line.high is None:
        most = "at most" if roomy else "≤"
        return f"{most} {rounded_up(line.shortfall or 0, 0)} below the top"
    low, high = rounded_down(line.low, _digits(line)), rounded_up(line.high, _digits(line))
    return f"{low} to {high}{line.unit}"


def _digits(line: Line) -> int:
    return 0 if isinstance(line.value, int) else 1


def _footnote(*, roomy: bool) -> str:
    bounds = f"at most two wards a patient, costs cut at {MOST_CENTS // CENTS:,}"
    exact = f"* on the same bounded data ({bounds}), shown only because they are made up."
    narrow = f"The data are bounded: {bounds}."
    return f"{exact if roomy else narrow} The bars of the six wards hold jointly."


def _meaning(total: Privacy) -> str:
    """What the total promises, and why that may be more than its epsilon does."""
    epsilon = total.epsilon(0)
    price = f"ε{TOGETHER}={TOGETHER}{in_short(epsilon)}"
    guess, worst = _won(total), _won(PureDP(epsilon))
    less = f" Answers that use up all that {price} allows would make it {worst}."
    return (
        f"{price} is the price of all this, for any one patient with all visits: who bets at even"
        f" odds on which of two records is theirs wins at most {guess} of the time."
        f"{less if guess != worst else ''}"
    )


def _won(privacy: Privacy) -> str:
    return percent(best_guess(privacy)).replace(" ", TOGETHER)
