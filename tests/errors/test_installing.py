"""The command that a message offers is the one that works here: in a clone, of a wheel, by name."""

import json
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from letalone.errors import installing
from letalone.errors.installing import how_to_install

CLONE = {"url": "file:///somewhere/letalone", "dir_info": {}}
EDITABLE = {"url": "file:///somewhere/letalone", "dir_info": {"editable": True}}
WHEEL = {"url": "file:///dist/letalone-1.0-py3-none-any.whl", "archive_info": {}}
PAGE = {"url": "https://host.example/letalone-1.0.tar.gz", "archive_info": {}}
GIT = {"url": "https://host.example/letalone", "vcs_info": {"vcs": "git", "commit_id": "1"}}
BY_NAME = None


def installed_from(origin: object, monkeypatch: pytest.MonkeyPatch) -> None:
    written = None if origin is None else json.dumps(origin)
    found = SimpleNamespace(read_text=lambda _: written)
    monkeypatch.setattr(metadata, "distribution", lambda _: found)


@pytest.mark.parametrize(
    ("origin", "command", "bare"),
    [
        (CLONE, "pip install '.[plot]' in your clone", "pip install . in your clone"),
        (EDITABLE, "pip install -e '.[plot]' in your clone", "pip install -e . in your clone"),
        (
            WHEEL,
            "pip install 'letalone-1.0-py3-none-any.whl[plot]' in the folder of that file",
            "pip install letalone-1.0-py3-none-any.whl in the folder of that file",
        ),
        (
            PAGE,
            "pip install 'letalone[plot] @ https://host.example/letalone-1.0.tar.gz'",
            "pip install 'letalone @ https://host.example/letalone-1.0.tar.gz'",
        ),
        (
            GIT,
            "pip install 'letalone[plot] @ git+https://host.example/letalone'",
            "pip install 'letalone @ git+https://host.example/letalone'",
        ),
        (BY_NAME, "pip install 'letalone[plot]'", "pip install letalone"),
    ],
    ids=["clone", "editable", "wheel", "page", "git", "name"],
)
def test_the_command_is_that_of_the_first_installation(
    origin: object, command: str, bare: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed_from(origin, monkeypatch)
    assert how_to_install("plot").removesuffix(" of letalone") == command
    assert how_to_install().removesuffix(" of letalone") == bare


def test_a_source_that_was_never_installed_is_a_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_: str) -> object:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "distribution", absent)
    assert how_to_install("plot") == "pip install '.[plot]' in your clone of letalone"


def test_the_clones_own_environment_need_not_be_activated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clone = tmp_path / "a clone"
    installed_from({"url": clone.as_uri(), "dir_info": {}}, monkeypatch)
    monkeypatch.setattr(sys, "prefix", str(clone / ".venv"))
    assert how_to_install("plot").startswith(".venv/bin/pip install '.[plot]'")


def test_no_message_and_no_page_offers_an_index_that_does_not_have_it() -> None:
    """Messages word it by `how_to_install`; pages say `pip install '.[…]'`, in a clone."""
    root = Path(__file__).parents[2]
    sources = [*(root / "src").rglob("*.py"), *(root / "src").rglob("*.html")]
    texts = [root / "README.md", *(root / "docs").rglob("*.md"), *(root / "docs").rglob("*.ipynb")]
    pages = [path for path in texts if not {"_build", "decisions"} & set(path.parts)]
    own = Path(installing.__file__)
    offered = [
        f"{path.relative_to(root)}: {line.strip()}"
        for path in [*sources, *pages]
        if path != own
        for line in path.read_text("utf-8").splitlines()
        if "pip install letalone" in line or "pip install 'letalone" in line
    ]
    assert offered == []
