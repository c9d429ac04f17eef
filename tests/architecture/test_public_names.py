"""`letalone.__all__` is the promise: each name exists, is explained, and is all there is."""

import ast
import builtins
import re
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType

import pytest

import letalone

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
DIRECTIVE = re.compile(r"^\.\. auto\w+:: letalone\.(\w+)$", re.MULTILINE)
CONSTANTS = {"ADD_REMOVE", "REPLACE", "__version__"}
PUBLIC = [*letalone.__all__, *letalone._NOT_STARRED]


def documented() -> list[str]:
    pages = sorted(REFERENCE.glob("*.md"))
    return [name for page in pages for name in DIRECTIVE.findall(page.read_text("utf-8"))]


@pytest.mark.parametrize("name", PUBLIC)
def test_each_public_name_exists(name: str) -> None:
    assert getattr(letalone, name) is not None


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - CONSTANTS))
def test_each_public_name_says_what_it_is(name: str) -> None:
    thing = getattr(letalone, name)
    words = thing.__doc__ or ""
    assert words.strip(), f"{name} has no docstring"
    assert not words.startswith(f"{name}("), f"the docstring of {name} is dataclass's own"


@pytest.mark.parametrize("name", PUBLIC)
def test_each_public_name_stands_in_the_reference_once(name: str) -> None:
    assert documented().count(name) == 1


def test_the_reference_names_nothing_that_is_not_public() -> None:
    assert set(documented()) <= set(PUBLIC)


@pytest.mark.parametrize("name", ["privacy", "sensitivity", "utility"])
def test_each_name_of_a_public_module_says_what_it_is(name: str) -> None:
    module: ModuleType = getattr(letalone, name)
    members = getattr(module, "__all__", None) or [
        member
        for member, thing in vars(module).items()
        if not member.startswith("_") and getattr(thing, "__module__", "") == module.__name__
    ]
    assert members
    for member in members:
        assert (getattr(module, member).__doc__ or "").strip(), f"{name}.{member}"


def test_nothing_else_is_public_in_a_fresh_interpreter() -> None:
    code = "import letalone; print(*(n for n in vars(letalone) if not n.startswith('_')))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # `import_module` is an import; everything else would be a promise.
    assert set(found.stdout.split()) <= {"import_module"}
    assert dir(letalone) == sorted(PUBLIC)


@pytest.mark.parametrize("package", [letalone, letalone.learn, letalone.attacks])
def test_type_checkers_see_exactly_what_is_fetched(package: ModuleType) -> None:
    """The stub of a façade names the same things, from the same modules, as its table."""
    stub = Path(package.__file__ or "").with_suffix(".pyi")
    seen: dict[str, str] = {}
    for node in ast.parse(stub.read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            assert all(alias.asname == alias.name for alias in node.names), "seen from outside"
            seen |= {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    homes = {name: f"{package.__name__}.{file}" for name, file in fetched(package).items()}
    assert seen.keys() == homes.keys()
    for name, home in homes.items():
        assert resolve_name(seen[name]) is getattr(package, name), home


def fetched(package: ModuleType) -> dict[str, str]:
    return package._HOME | package._MODULES if package is letalone else package._HOMES


def test_a_star_import_hides_nothing_of_python() -> None:
    assert not set(letalone.__all__) & set(dir(builtins))
    assert set(letalone._NOT_STARRED) <= set(dir(builtins))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="letalone has no 'Laplac'"):
        letalone.Laplac  # noqa: B018
