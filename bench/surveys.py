"""A survey of simulated browsers: does the estimate cover the truth, and how fast do answers come?

    python bench/surveys.py [--people 2000] [--surveys 20]

Starts `letalone serve`, opens the survey's page in headless Chromium for each person, answers, and
reads the results. Then the same law is drawn for many surveys at once, for the rate of coverage.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from letalone.curator.curator import Curator
from letalone.curator.storage.settings import Settings
from letalone.local.questionnaires.questions import Questionnaire, read_questionnaire
from letalone.local.questionnaires.results import question_results
from letalone.local.reports import to_bytes
from letalone.randomness.bits import SYSTEM

TRUE_SHARE, PORT = 0.3, 8497
CODE = "import sys; from letalone.cli.app import run; sys.exit(run(sys.argv[1:]))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=2000)
    parser.add_argument("--surveys", type=int, default=1000)
    options = parser.parse_args()
    survey = _survey()
    with tempfile.TemporaryDirectory() as folder:
        _in_browsers(survey, Path(folder) / "curator", options.people)
    _coverage(survey, options.people, options.surveys)


def _survey() -> Questionnaire:
    ends = (datetime.now(UTC) + timedelta(days=2)).date().isoformat()
    question = {"text": "Do you smoke?", "kind": "yes_no"}
    return read_questionnaire(
        {"name": "bench", "title": "Bench", "purpose": "To measure.", "epsilon": 1, "ends": ends,
         "questions": [question]}
    )  # fmt: skip


def _in_browsers(survey: Questionnaire, folder: Path, people: int) -> None:
    with Curator.open(Settings(folder=folder)) as curator:
        curator.people.first_owner()
        curator.surveys.make(survey, by="owner")
        secrets = curator.surveys.invite(survey.name, people, by="owner")
    service = subprocess.Popen(
        [sys.executable, "-c", CODE, "serve", "--json", "--folder", str(folder), f"--port={PORT}"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ,
    )  # fmt: skip
    try:
        assert service.stdout is not None
        address = json.loads(service.stdout.readline())["address"]
        time.sleep(3)
        seconds, body = _answer_all(address, survey.name, secrets)
    finally:
        service.terminate()
        service.wait()
    print(f"one request's body: {body}")
    print(f"{people / seconds:.1f} browsers a second answered")
    with Curator.open(Settings(folder=folder)) as curator:
        (result,) = curator.surveys.results(survey.name, by="owner")
    yes = result.choices[0]
    held = yes.low <= TRUE_SHARE <= yes.high
    print(f"{result.people} answers: yes {result.in_words(yes)}; truth 30 %, held: {held}")


def _answer_all(address: str, name: str, secrets: list[str]) -> tuple[float, str]:
    bodies: list[str] = []
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=arguments)
        page = browser.new_page()
        page.on("request", lambda request: bodies.append(request.post_data or ""))
        start = time.monotonic()
        for number, secret in enumerate(secrets):
            page.goto("about:blank")
            page.goto(f"{address}/survey/{name}#{secret}")
            page.get_by_label("yes" if number % 10 < 3 else "no", exact=True).check()
            page.get_by_role("button", name="Send a random answer").click()
            page.get_by_text("Thank you").wait_for()
        seconds = time.monotonic() - start
        browser.close()
    return seconds, next(body for body in bodies if body)


def _coverage(survey: Questionnaire, people: int, surveys: int) -> None:
    (oracle,) = survey.oracles
    truth = (np.arange(people) % 10 >= 3).astype(np.int64)
    held = 0
    for _ in range(surveys):
        content = to_bytes(oracle, oracle.randomise(truth, SYSTEM))
        yes = content.count(b"\x80")
        (result,) = question_results(survey, [{"80": yes, "40": people - yes}])
        held += result.choices[0].low <= TRUE_SHARE <= result.choices[0].high
    print(f"95 % intervals held the truth in {held / surveys:.1%} of {surveys} surveys")


if __name__ == "__main__":
    main()
