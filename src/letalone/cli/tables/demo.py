"""`letalone demo`: the main job on a table that is made up, beside the true figures.

A hospital is written to a temporary folder and asked two questions by the same way as any table:
`la.open` on DuckDB, a ledger, noise. Then the folder is gone. Up to 20 rows of a patient count,
which is all that anyone has, so the true figures differ from the answers by the noise alone.

  Tested:   tests/cli/test_demo.py
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.table import Table

from letalone.answers.columns import Cell
from letalone.answers.promise import FALSE_ALARMS, best_guess, most_caught
from letalone.answers.views import cell_text, output_cells
from letalone.cli import screen
from letalone.cli.offered import to_type
from letalone.ledger.data_sets import budget_to_json
from letalone.plans.aggregates.requests import count, count_distinct, mean
from letalone.plans.expressions import ColumnRef
from letalone.privacy import Budget, Privacy, PureDP, compose
from letalone.privacy.budget import brief
from letalone.sample.hospital import MOST_VISITS, WARDS, HospitalVisits, reaches_age, visits
from letalone.session.opening import open as open_table
from letalone.session.query import Query
from letalone.session.release import Release
from letalone.session.session import Session

SAMPLE_SEED = 1890  # of Warren and Brandeis: The right to privacy
UNIT = "patient_id"
TYPES = {"birth_date": "date", "cost": "number"}
OLD, BORN_BY = 65, date(1961, 1, 1)  # 65 years before the hospital's today
MOST_COST = 3000
BUDGET = Budget(epsilon=2)
FOR_OLDER, FOR_WARDS = 0.1, 0.9
Exact = Mapping[str, tuple[Cell, ...]]


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A private answer and, since nobody in the table exists, the figures without noise."""

    text: str
    release: Release
    exact: Exact


@dataclass(frozen=True, slots=True)
class DemoAnswers:
    """All that the demo shows."""

    visits: int
    patients: int
    older: DemoQuestion
    wards: DemoQuestion
    remaining: Budget

    @property
    def privacy(self) -> Privacy:
        """What both answers reveal together."""
        return compose(self.older.release.privacy, self.wards.release.privacy)


def demo(*, attacks: bool, as_json: bool) -> None:
    """Ask the questions and print what came back, or play the attacks instead."""
    if attacks:
        from letalone.cli.trust.scenes import play_attacks

        play_attacks(as_json=as_json)
        return
    hospital = visits(seed=SAMPLE_SEED)
    with TemporaryDirectory(prefix="letalone-demo-") as folder:
        answers = ask_both(hospital, Path(folder))
    if as_json:
        screen.print_json("demo", _as_json(answers))
    else:
        _show(answers)


def ask_both(hospital: HospitalVisits, folder: Path) -> DemoAnswers:
    """The two answers about this table, by way of a file and a ledger in a folder."""
    file = folder / "visits.csv"
    hospital.to_csv(file)
    with open_table(
        file, unit=UNIT, types=TYPES, budget=BUDGET, ledger=folder / "visits.letalone.db"
    ) as session:
        older = DemoQuestion(
            f"patients of {OLD} or older",
            session.where(ColumnRef("birth_date") <= BORN_BY)
            .agg(patients=count_distinct())
            .release(epsilon=FOR_OLDER),
            _exactly_older(hospital),
        )
        wards = DemoQuestion(
            "visits and mean bill by ward",
            _wards(session).release(epsilon=FOR_WARDS),
            _exactly_in_wards(hospital),
        )
        patients = len(np.unique(hospital.patient_id))
        return DemoAnswers(len(hospital), patients, older, wards, session.remaining)


def _wards(session: Session) -> Query:
    grouped = session.group_by("ward", keys=list(WARDS)).bound(max_rows=MOST_VISITS)
    return grouped.agg(visits=count(), bill=mean("cost", lower=0, upper=MOST_COST))


def _exactly_older(hospital: HospitalVisits) -> Exact:
    old = reaches_age(OLD, hospital.birth_date)
    return {"patients": (len(np.unique(hospital.patient_id[old])),)}


def _exactly_in_wards(hospital: HospitalVisits) -> Exact:
    bills = np.clip(hospital.cost, 0, MOST_COST)
    inside = [hospital.ward == ward for ward in WARDS]
    return {
        "visits": tuple(int(rows.sum()) for rows in inside),
        "bill": tuple(float(bills[rows].mean()) for rows in inside),
    }


def _as_json(answers: DemoAnswers) -> dict[str, object]:
    questions = [
        {"question": question.text, "epsilon": question.release.epsilon, "rows": _rows(question)}
        for question in (answers.older, answers.wards)
    ]
    return {
        "made_up": True,
        "patients": answers.patients,
        "visits": answers.visits,
        "unit": UNIT,
        "neighbours": str(answers.wards.release.privacy.neighbours),
        "confidence": answers.wards.release.confidence,
        "questions": questions,
        "epsilon": answers.privacy.epsilon(0),
        "delta": 0,
        "budget": budget_to_json(BUDGET),
        "remaining": budget_to_json(answers.remaining),
    }


def _rows(question: DemoQuestion) -> list[dict[str, Any]]:
    """The noisy rows, with NAME_exact beside each NAME."""
    return [
        {**row, **{f"{name}_exact": cells[place] for name, cells in question.exact.items()}}
        for place, row in enumerate(question.release.rows())
    ]


def _show(answers: DemoAnswers) -> None:
    roomy = screen.console().width >= screen.WIDEST
    screen.say(
        f"Sample data, a hospital that does not exist: {answers.visits:,} visits of"
        f" {answers.patients:,} patients, made up, written to a temporary folder, and asked by way"
        " of DuckDB.",
        _count(answers.older),
    )
    screen.put(_table(answers.wards, roomy=roomy))
    screen.say(_footnote(roomy=roomy), _price(answers), _meaning(answers))
    last = "Run it again and see the noise change. Then ask a table of yours:"
    query = ("query", "my.csv", "SELECT COUNT(*) FROM my", "--epsilon", "0.5")
    commands = to_type("init", "my.csv") + to_type(*query) + to_type("explain", "epsilon", "1")
    screen.say(last + commands)


def _count(question: DemoQuestion) -> str:
    (output,) = question.release.shown
    (answer,), (exact,) = output_cells(output), question.exact[output.name]
    return f"{question.text.capitalize()}: {answer}, exactly* {cell_text(exact)}"


def _table(question: DemoQuestion, *, roomy: bool) -> Table:
    """The answers by ward; a narrow terminal has no columns of exact ones."""
    (wards,) = question.release.keys
    columns: list[tuple[str, list[str]]] = [("ward", [cell_text(ward) for ward in wards.values])]
    for output in question.release.shown:
        columns.append((output.name, output_cells(output)))
        exact = [cell_text(round(float(str(value)))) for value in question.exact[output.name]]
        columns += [("exact*", exact)] * roomy
    names = [name for name, _ in columns]
    rows = zip(*(cells for _, cells in columns), strict=True)
    return screen.table(*names, right=names[1:], rows=rows)


def _footnote(*, roomy: bool) -> str:
    bounds = f"bills above {MOST_COST:,} count as {MOST_COST:,}"
    more = "" if roomy else " (--json has all)"
    exact = f"* without noise, shown only because nobody in it is real{more}"
    return f"[low, high]: 95 % noise range; {bounds}. {exact}."


def _price(answers: DemoAnswers) -> str:
    prices = f"{FOR_OLDER:g} + {FOR_WARDS:g}"
    label = answers.wards.release.privacy.neighbours
    whom = "" if label is None else f", to protect {screen.protection_text(label)}, with all visits"
    remaining = f"Left: about {brief(answers.remaining, up=False)} of {brief(BUDGET)}."
    return f"Spent ε = {prices}{whom}. {remaining}"


def _meaning(answers: DemoAnswers) -> str:
    """What an ε promises, whatever was asked: the numbers of `letalone explain epsilon`."""
    epsilon = answers.privacy.epsilon(0)
    promised = PureDP(epsilon)
    return (
        f"ε = {screen.in_short(epsilon)} means: anyone who bets at even odds that a patient"
        f" was here wins at most {screen.percent_text(best_guess(promised))} of the time, and a"
        f" test with {screen.percent_text(FALSE_ALARMS)} false alarms finds a patient at most"
        f" {screen.percent_text(most_caught(promised))} of the time."
    )
