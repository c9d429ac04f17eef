"""The map is true: what pages and docstrings name exists, and all layers stand on it."""

import ast
import re
import tomllib
from functools import cache
from itertools import takewhile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
DOCS = ROOT / "docs"
PAGES = [*ROOT.glob("*.md"), *(p for p in sorted(DOCS.rglob("*.md")) if "_build" not in p.parts)]
MAP = DOCS / "explanation" / "architecture.md"
RULES = DOCS / "explanation" / "soundness.md"
HISTORY = {ROOT / "CHANGELOG.md", DOCS / "contributing" / "names.md"}  # they tell of what was
PATH = re.compile(r"(?<![\w./-])((?:src|tests|docs|bench)/[\w./*-]*\w)(?![\w<-])(?:::(\w+))?")
MODULE = re.compile(r"(?<![\w./@-])(letalone(?:\.[a-z_]\w*)+)((?:\.[A-Z]\w*)?)")
TEST = re.compile(r"^ *(?:async )?def (test_\w+)\(", re.M)


def docstrings() -> dict[str, str]:
    """All docstrings of each source file, joined."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found: dict[str, str] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        texts = [ast.get_docstring(node) or "" for node in nodes if isinstance(node, kinds)]
        found[str(path.relative_to(ROOT))] = "\n".join(texts)
    return found


@cache
def texts() -> dict[str, str]:
    """What is checked: pages that tell of the present, and docstrings."""
    pages = {
        str(p.relative_to(ROOT)): p.read_text("utf-8")
        for p in PAGES
        if p not in HISTORY and "decisions" not in p.parts
    }
    return pages | docstrings()


def missing_paths(text: str) -> list[str]:
    """Paths, and tests within a file, that are not there."""
    missing: list[str] = []
    for path, test in PATH.findall(text):
        matches = list(ROOT.glob(path)) or list(ROOT.glob(f"{path}-*.md"))  # decisions by number
        named = [m for m in matches if not test or test in TEST.findall(m.read_text("utf-8"))]
        if not named:
            missing.append(f"{path}::{test}" if test else path)
    return missing


def missing_modules(text: str) -> list[str]:
    """Dotted names of ours whose module is not there, or does not mention the last part."""
    return [name for name, _ in MODULE.findall(text) if not is_there(name)]


def is_there(name: str) -> bool:
    """Whether this is a module, or a name that a module or package of ours mentions."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        base = SOURCE.joinpath(*parts[:length])
        files = [f for f in (base.with_suffix(".py"), base / "__init__.py") if f.exists()]
        if files:
            rest = parts[length:]
            return not rest or rest[0] in files[0].read_text("utf-8") or length == 1
    return False


def test_every_path_and_test_that_a_page_or_docstring_names_exists() -> None:
    missing = {place: missing_paths(text) for place, text in texts().items()}
    assert not {place: names for place, names in missing.items() if names}


def test_every_module_that_a_page_or_docstring_names_exists() -> None:
    missing = {place: missing_modules(text) for place, text in texts().items()}
    assert not {place: names for place, names in missing.items() if names}


def test_a_reference_to_nothing_would_be_noticed() -> None:
    gone = "tests/ledger/test_gone.py, `tests/ledger/test_ledger.py::test_gone`, docs/gone.md"
    assert len(missing_paths(gone)) == 3
    assert missing_modules("letalone.gone.things and `letalone.privacy.gone`")
    assert not missing_modules("letalone.privacy.curve and `letalone.exact.balls`")
    assert not missing_paths("tests/seeded.py, tests/golden/ and docs/explanation/proofs/*.md")


def layers() -> list[str]:
    """Each layer of the linter's contract, from the top down."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    lines: list[str] = contracts["contracts"][0]["layers"]
    return [name for line in lines for name in line.split(" | ")]


@pytest.mark.parametrize("page", [MAP, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_every_layer_of_the_linter_stands_on_the_map(page: Path) -> None:
    text = page.read_text("utf-8")
    drawn = r"`{0}`|^(?:\w+   )*{0}\b"
    assert not [name for name in layers() if not re.search(drawn.format(name), text, re.M)]


def table_below(title: str) -> list[list[str]]:
    """The rows of the first table of the map after a title."""
    lines = MAP.read_text("utf-8").partition(f"{title}\n")[2].splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("|"))
    rows = takewhile(lambda line: line.startswith("|"), lines[first + 2 :])
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def names_in(cell: str) -> list[str]:
    return re.findall(r"`([\w/.]+)`", cell)


def test_every_room_of_the_map_is_in_its_layer() -> None:
    layer, missing = "", list[str]()
    for named, rooms, *_ in table_below("### Rooms of a layer"):
        layer = names_in(named)[0] if named else layer
        places = [SOURCE / "letalone" / layer / room for room in names_in(rooms)]
        missing += [str(place) for place in places if not place.exists()]
    assert layer
    assert not missing


def test_every_concept_of_the_map_is_where_it_says() -> None:
    files = [name for row in table_below("## Eight concepts") for name in names_in(row[2])]
    assert len(files) >= 8
    assert not [name for name in files if not (SOURCE / "letalone" / name).is_file()]


def test_every_rule_of_soundness_has_a_test() -> None:
    rows = re.findall(r"^\| (\d+) \|(.*)$", RULES.read_text("utf-8"), re.M)
    assert [int(number) for number, _ in rows] == list(range(1, len(rows) + 1))
    assert not [number for number, row in rows if not PATH.search(row.rsplit("|", 2)[1])]


def test_every_stored_format_is_listed_with_its_number() -> None:
    """`FORMAT = 3` in a module of ours is a number that the page of formats must have."""
    page = (DOCS / "reference" / "formats.md").read_text("utf-8")
    cells = re.findall(r"^\|.*?\|.*?\|(.*?)\|", page, re.M)
    numbers = {int(word) for cell in cells for word in cell.split() if word.isdigit()}
    stated = re.compile(r"^FORMAT(?:, \w+)? = (\d+)", re.M)
    written = {
        path.stem: {int(n) for n in stated.findall(path.read_text("utf-8"))}
        for path in SOURCE.rglob("*.py")
    }
    assert not {name for name, found in written.items() if not found <= numbers}
