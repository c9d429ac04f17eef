"""A release has one version, and its checklist names what exists."""

import re
import tomllib

from distribution.image_file import ROOT

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
CHECKLIST = (ROOT / "docs" / "contributing" / "release.md").read_text("utf-8")


def test_the_newest_heading_of_the_changelog_is_the_version() -> None:
    headings = re.findall(r"^## (\S+?),? ", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert headings[0] == VERSION


def test_no_source_file_repeats_the_version() -> None:
    repeated = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "src").rglob("*.py")
        if f'"{VERSION}"' in path.read_text("utf-8")
    ]
    assert repeated == []


def test_the_checklist_names_sessions_and_files_that_exist() -> None:
    sessions = set(re.findall(r"^def ([a-z]\w*)\(", (ROOT / "noxfile.py").read_text("utf-8"), re.M))
    named = set(re.findall(r"nox -s ([\w-]+)", CHECKLIST))
    assert {"build", "sbom", "docs", "mutants"} <= named <= sessions
    for file in re.findall(r"`((?:conda|docs|tests|\.ci)[\w./-]*|\w+\.(?:toml|md))`", CHECKLIST):
        assert (ROOT / file).exists(), file


def test_each_thing_that_is_published_has_its_step() -> None:
    for words in ("Tests", "Changelog", "Tag", "Wheel and sdist", "SBOM", "Image", "conda"):
        assert f"**{words}.**" in CHECKLIST
