"""Browsers that are signed in, over the curator of tests/curator: they send forms as people do."""

import re
import warnings
from shutil import copytree
from typing import Any

import pytest

from curator.makers import PASSWORD, Clock, open_curator
from letalone.curator.curator import Curator
from letalone.curator.http.app import make_app
from letalone.curator.http.limits import RateLimits

with warnings.catch_warnings():
    # Starlette would rather have httpx2, which the client of letalone does not use.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

HIDDEN = re.compile(r'name="csrf" value="([0-9a-f]+)"')
SAME = {"Sec-Fetch-Site": "same-origin"}


class Browser:
    """Somebody's browser: it keeps cookies, and puts the secret of the last page into forms."""

    def __init__(self, app: Any, *, https: bool = True) -> None:
        base = "https://testserver" if https else "http://127.0.0.1"
        self.client = TestClient(app, base_url=base, follow_redirects=False)
        self.csrf = ""

    def see(self, path: str, **more: Any) -> Any:
        """Looks at a page, without following where it leads."""
        return self._kept(self.client.get(path, **more))

    def send(self, path: str, *, headers: dict[str, str] | None = None, **fields: Any) -> Any:
        """Sends a form; `csrf=` replaces the secret of the last page."""
        data = {"csrf": self.csrf, **fields}
        return self._kept(self.client.post(path, data=data, headers=SAME | (headers or {})))

    def follow(self, answer: Any) -> Any:
        """The page that an answer leads to."""
        assert answer.status_code == 303, answer.text
        return self.see(answer.headers["location"])

    def sign_in(self, name: str, password: str = PASSWORD, **more: Any) -> Any:
        self.see("/sign-in")
        answer = self.send("/sign-in", name=name, password=password, **more)
        if answer.status_code == 303:
            self.follow(answer)
        return answer

    def _kept(self, answer: Any) -> Any:
        found = HIDDEN.search(answer.text)
        self.csrf = found[1] if found else self.csrf
        return answer


class Console:
    """A service, and a browser for each person."""

    def __init__(self, curator: Curator, clock: Clock, **more: Any) -> None:
        more.setdefault("rates", RateLimits(log_ins_of_an_address=10**6, of_an_address=10**6))
        self.curator, self.clock, self.app = curator, clock, make_app(curator, **more)
        self._browsers: dict[str, Browser] = {}

    def anybody(self, *, https: bool = True) -> Browser:
        """A fresh browser."""
        return Browser(self.app, https=https)

    def by(self, name: str, *, elevated: bool = False) -> Browser:
        """The browser of a person who is signed in; and has given the password again."""
        if name not in self._browsers:
            self._browsers[name] = self.anybody()
            assert self._browsers[name].sign_in(name).status_code == 303
        found = self._browsers[name]
        if elevated:
            assert found.send("/again", password=PASSWORD).status_code == 303
        return found


@pytest.fixture(scope="module")
def console(made_once, tmp_path_factory):
    """People in every role, a table and a grant for ann; one for all tests of a file."""
    folder, clock = tmp_path_factory.mktemp("console"), Clock()
    copytree(made_once[1], folder, dirs_exist_ok=True)
    with open_curator(folder, clock=clock) as curator:
        yield Console(curator, clock)


@pytest.fixture
def fresh(ready, clock):
    """The same for one test alone."""
    return Console(ready, clock)
