"""The commands of `letalone survey`: make one, invite people, read the results, close it.

They act on the folder of `letalone serve`, as somebody who may enter it; the service need not run.

  Tested:   tests/cli/test_survey.py
"""

import json
import os
import tomllib
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from letalone.cli.screen import console, print_json, put, say
from letalone.cli.trust.serve import check_installed
from letalone.errors import ParameterError
from letalone.errors.spelling import did_you_mean, plural, plural_people
from letalone.exact.typed import expand_home
from letalone.local.questionnaires.questions import (
    QuestionKind,
    Questionnaire,
    read_questionnaire,
)
from letalone.local.questionnaires.results import QuestionResult, exactness, results_csv

if TYPE_CHECKING:
    from letalone.curator.surveys.service import SurveyService

EXAMPLE = """\
name = "mood"
title = "How are we?"
purpose = "To plan next year's courses."
epsilon = 2            # for all answers of one person
ends = {ends}

[[questions]]
text = "Have you felt exhausted this month?"
kind = "yes_no"

[[questions]]
text = "Where do you work?"
kind = "one_of"
options = ["ward", "office", "laboratory"]

[[questions]]
text = "How long do you sleep?"
kind = "number"
lower = 0
upper = 12
measure = "hours"
"""

USUAL_PEOPLE = 200  # of the command that is shown next
USUAL_DAYS = 60  # from today to the last day of the example
THIS_MACHINE = ("127.0.0.1", "::1", "localhost")


def make(file: Path, *, other_counter: str | None, folder: Path, by: str, as_json: bool) -> None:
    """Make a survey of a file."""
    survey = _read(file)
    with _surveys(folder, other_counter) as surveys:
        surveys.make(survey, by=by)
    if as_json:
        print_json("survey new", survey.to_json())
    else:
        put(f"Made the survey {survey.name!r}. Nobody is invited yet.")
        _tell_exactness(survey, USUAL_PEOPLE)
        say(f"Next:\n  {_next_command(survey, folder)}")


def _next_command(survey: Questionnaire, folder: Path) -> str:
    """Nobody can answer before the second counter has joined."""
    where = f"--folder {quote(str(folder))}"
    if survey.two_counters:
        return f"letalone survey share {survey.name} {survey.name}.counter.json {where}"
    return (
        f"letalone survey open {survey.name} --people {USUAL_PEOPLE}"
        f" --address https://survey.example.org {where}"
    )


def _tell_exactness(survey: Questionnaire, people: int) -> None:
    """Beside the output, so that a file of links has links only."""
    if words := exactness(survey, people):
        console(stderr=True).print(words, markup=False)


def _read(file: Path) -> Questionnaire:
    try:
        document = tomllib.loads(expand_home(file).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ParameterError(
            f"There is no file {file}. It could begin so:\n\n{example()}"
        ) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ParameterError(
            f"{file} cannot be read as TOML: {error}. Texts stand in straight quotes, as in"
            ' name = "mood"; numbers and days do not, as in ends = 2027-01-31.'
        ) from None
    return read_questionnaire(document)


def example() -> str:
    """A survey that can be made today."""
    ends = (datetime.now(UTC) + timedelta(days=USUAL_DAYS)).date()
    return EXAMPLE.format(ends=ends)


def invite(name: str, people: int, *, address: str, folder: Path, by: str, as_json: bool) -> None:
    """Make invitations and print their links, once."""
    start = check_start(address)
    with _surveys(folder) as surveys:
        _check_there(surveys, name, by)
        secrets = surveys.invite(name, people, by=by)
        record = surveys.record(name, by=by)
    links = [f"{start}/survey/{name}#{secret}" for secret in secrets]
    if as_json:
        print_json("survey open", {"name": name, "links": links})
    else:
        put(*links)
        _tell_place(start)
        _tell_exactness(record.survey, record.invited)


def check_start(address: str) -> str:
    """What the links begin with. They are shown once, so one that no browser opens is lost."""
    try:
        parts = urlsplit(address)
        is_complete = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_complete = False
    if not is_complete or any(sign in address for sign in "#? "):
        raise ParameterError(
            f"address is {address!r}, but must be where people reach the service, with http:// or"
            " https:// in front, such as https://survey.example.org."
        )
    return address.rstrip("/")


def _tell_place(start: str) -> None:
    if urlsplit(start).hostname in THIS_MACHINE:
        console(stderr=True).print(
            "These links open on this machine only. For others give --address, such as"
            " --address https://survey.example.org.",
            markup=False,
        )


def _check_there(surveys: "SurveyService", name: str, by: str) -> None:
    """Who may see all surveys is told which there are."""
    from letalone.curator.storage.refusals import NotThere

    names = [record.survey.name for record in surveys.records(by=by)]
    if name not in names:
        known = f"There are: {', '.join(names)}." if names else "None was made yet."
        raise NotThere(f"There is no survey {name!r}. {known}{did_you_mean(name, names)}")


def show_results(
    name: str,
    *,
    margin: float,
    as_csv: bool,
    other_counter: str | None,
    folder: Path,
    by: str,
    as_json: bool,
) -> None:
    """Print estimates with ranges."""
    with _surveys(folder, other_counter) as surveys:
        _check_there(surveys, name, by)
        results = surveys.results(name, by=by, margin=margin)
    if as_json:
        questions = [result.to_json() for result in results]
        print_json("survey results", {"name": name, "margin": margin, "questions": questions})
    elif as_csv:
        print(results_csv(results), end="")
    else:
        put(*(line for result in results for line in _lines(result, margin)))


def _lines(result: QuestionResult, margin: float) -> list[str]:
    width = max((len(choice.label) for choice in result.choices), default=0)
    shown = [f"  {choice.label:<{width}}  {result.in_words(choice)}" for choice in result.choices]
    return [f"{result.question.text} ({_how_many(result, margin)})", *shown]


def _how_many(result: QuestionResult, margin: float) -> str:
    answered = plural_people(result.people)
    if not result.has_margin:
        told = f"{answered}, by two counters"
        return told if result.people else "two counters tell their totals when it is closed"
    of_range = " of the range" if result.question.kind is QuestionKind.NUMBER else ""
    exact = f"± {100 * margin:.3g} %{of_range}"
    if not result.more_needed:
        return f"{answered}; enough for about {exact}"
    people = f", from {result.more_people:,} more people," if result.one_in > 1 else ""
    return f"{answered}; about {result.more_needed:,} more answers{people} for {exact}"


def close(name: str, *, folder: Path, by: str, as_json: bool) -> None:
    """Take no more answers."""
    with _surveys(folder) as surveys:
        _check_there(surveys, name, by)
        record = surveys.close(name, by=by)
    if as_json:
        print_json("survey close", {"name": name, "people": record.people})
    else:
        put(f"Closed the survey {name!r} with {plural(record.people, 'answer')}.")


def share(name: str, to: Path, *, folder: Path, as_json: bool) -> None:
    """Write the file for the second counter, which has the survey's key."""
    with _surveys(folder) as surveys:
        document = surveys.counters.invitation(name)
    place = expand_home(to)
    try:
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise ParameterError(
            f"{to} cannot be written: {error.strerror}. Name a new file."
        ) from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(document, file)
    if as_json:
        print_json("survey share", {"name": name, "file": str(to)})
    else:
        say(f"Written to {to}. It has the survey's key: send it privately, then delete it.")
        say(f"The other organisation runs: letalone survey join {to.name}")


def join(file: Path, *, folder: Path, as_json: bool) -> None:
    """Become the second counter of a survey."""
    try:
        document = json.loads(expand_home(file).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise ParameterError(
            f"{file} cannot be read. Give the file that `letalone survey share` wrote."
        ) from None
    with _surveys(folder) as surveys:
        survey = surveys.counters.join(document)
    if as_json:
        print_json("survey join", {"name": survey.name})
    else:
        put(f"This service is the second counter of {survey.name!r}: {survey.title}")
        put(f"Its noise keeps ε = {survey.epsilon_above} for all answers of one person to:")
        put(*(f"  {question.text}" for question in survey.questions))
        say("Check that the survey's page says the same.")


@contextmanager
def _surveys(folder: Path, other_counter: str | None = None) -> Generator["SurveyService"]:
    check_installed()
    from letalone.curator.curator import Curator
    from letalone.curator.storage.settings import Settings

    if not expand_home(folder).is_dir():
        raise ParameterError(
            f"No service has been started in {folder}. Start one with letalone serve, or name its"
            " folder with --folder."
        )
    with Curator.open(Settings(folder=folder, other_counter=other_counter)) as curator:
        yield curator.surveys
