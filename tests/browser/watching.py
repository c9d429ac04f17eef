"""A browser that tells all that goes wrong in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

from browser.hospital import PASSWORD

PHONE, WIDE = 390, 1280
HEIGHT = 900
LISTEN = """document.addEventListener("securitypolicyviolation", (event) =>
  console.error("policy: " + event.violatedDirective + " " + event.blockedURI));"""
# A refused form is an answer with another status, which Chromium calls a failure to load.
STATUS = "Failed to load resource: the server responded with a status of 4"


@dataclass  # without slots: Playwright keeps something of its own in it
class Watch:
    """What went wrong, and where requests went."""

    wrong: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(STATUS):
            self.wrong.append(message.text)

    def asked(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss"):
            self.hosts.add(parts.netloc)


@dataclass(frozen=True, slots=True)
class Somebody:
    """A person's browser, at a service."""

    page: Page
    watch: Watch
    address: str

    def go(self, path: str) -> Page:
        self.page.goto(self.address + path)
        return self.page

    def sign_in(self, name: str, password: str = PASSWORD) -> None:
        self.go("/sign-in")
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("main").get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(lambda at: "/sign-in" not in at)

    def press(self, words: str) -> None:
        """A button of the page itself, which leads to another one."""
        self.page.get_by_role("main").get_by_role("button", name=words).click()

    @property
    def words(self) -> str:
        return self.page.get_by_role("main").inner_text()

    @property
    def problem(self) -> str:
        return self.page.get_by_role("alert").inner_text()


@contextmanager
def somebody(browser: Browser, address: str, **more: Any) -> Iterator[Somebody]:
    """A fresh browser; whatever went wrong in it fails the test in the end."""
    more.setdefault("viewport", {"width": WIDE, "height": HEIGHT})
    # Without motion: a colour on its way to another one has the contrast of neither.
    context = browser.new_context(reduced_motion="reduce", **more)
    watch = watched(context)
    try:
        yield Somebody(context.new_page(), watch, address)
        assert watch.wrong == [], watch.wrong
        assert watch.hosts <= {urlsplit(address).netloc}, "a request left for another host"
    finally:
        context.close()


def watched(context: BrowserContext) -> Watch:
    watch = Watch()
    context.set_default_timeout(20_000)
    context.add_init_script(LISTEN)
    context.on("console", watch.said)
    context.on("weberror", lambda error: watch.wrong.append(str(error.error)))
    context.on("request", watch.asked)
    return watch
