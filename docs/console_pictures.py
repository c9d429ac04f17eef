"""Draws docs/how-to/console/*.webp: pages of the console, in a real browser.

    python docs/console_pictures.py

The service is that of the browser tests: a hospital that does not exist. It needs letalone[browser]
and a Chromium. Answers are random, so the pictures differ a little each time.
"""

import sys
import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser.conftest import NAMES, chromium_at, serving
from browser.hospital import PURPOSE, VISITS, made
from browser.watching import Somebody, somebody

FOLDER = Path(__file__).parent / "how-to" / "console"
WIDTH, HEIGHT = 1100, 800
QUALITY = 80


def ask(ann: Somebody) -> None:
    """The price and the error, before anything is spent."""
    page = ann.go(f"/ask?data_set={VISITS}&purpose={PURPOSE}")
    page.get_by_role("group", name="For each").get_by_label("ward").check()
    page.get_by_label("ε", exact=True).fill("0.3")
    ann.press("Show price and error")
    page.get_by_role("heading", name="Before you spend").wait_for()


def answer(ann: Somebody) -> None:
    """A table and charts with error bars."""
    answers = ann.go("/history").get_by_role("main").get_by_role("listitem")
    answers.last.get_by_role("link").first.click()


def steward(stan: Somebody) -> None:
    """What waits for a decision, and how each budget was spent."""
    stan.go("/")


PICTURES: dict[str, tuple[str, Callable[[Somebody], None]]] = {
    "ask": ("ann", ask),
    "answer": ("ann", answer),
    "steward": ("stan", steward),
}


def taken(one: Somebody, place: Path) -> None:
    picture = Image.open(BytesIO(one.page.screenshot(full_page=True)))
    picture.save(place, quality=QUALITY, method=6)
    print(f"{place.name}: {place.stat().st_size / 1000:.0f} kB")


def main() -> None:
    place = chromium_at()
    if place is None:
        sys.exit(f"None of {', '.join(NAMES)} is installed.")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=place, args=["--no-sandbox"])
        with serving(made(Path(folder))) as (address, _):
            for name, (person, look) in PICTURES.items():
                size = {"width": WIDTH, "height": HEIGHT}
                with somebody(browser, address, viewport=size) as one:
                    one.sign_in(person)
                    look(one)
                    taken(one, FOLDER / f"{name}.webp")
        browser.close()


if __name__ == "__main__":
    main()
