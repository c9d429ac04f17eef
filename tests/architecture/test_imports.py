"""What the import contracts cannot see: parts of foreign packages, and the façade."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "letalone"
FILES = sorted(SOURCE.rglob("*.py"))
FACADE = SOURCE / "__init__.py"
TEST_MODULES = {path.stem for path in (Path(__file__).parents[1]).glob("*.py")} | {"tests"}


def imported(path: Path) -> Iterator[str]:
    """Every module and `module.name` that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively; names are spelled out here"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_the_walk_sees_imports_inside_functions_and_of_names(tmp_path: Path) -> None:
    file = tmp_path / "example.py"
    file.write_text("def f():\n    from scipy import stats\nimport seeded\n")
    assert set(imported(file)) == {"scipy", "scipy.stats", "seeded"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_file_imports_scipy_stats_or_anything_of_the_tests(path: Path) -> None:
    for name in imported(path):
        assert not name.startswith("scipy.stats"), "scipy.stats takes a second to load"
        assert name.split(".")[0] not in TEST_MODULES, f"{name} belongs to the tests"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_balls_and_randomness_talk_to_arb(path: Path) -> None:
    allowed = path == SOURCE / "exact" / "balls.py" or SOURCE / "randomness" in path.parents
    assert allowed or not any(name.split(".")[0] == "flint" for name in imported(path))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_file_but_the_command_line_asks_the_facade(path: Path) -> None:
    """The façade reaches every layer: through it, an import could point up."""
    if path == FACADE or SOURCE / "cli" in path.parents:
        return
    layers = {place.stem for place in SOURCE.iterdir()}
    for name in imported(path):
        top, _, rest = name.partition(".")
        assert top != "letalone" or not rest or rest.split(".")[0] in layers, name
    tree = ast.parse(path.read_text(encoding="utf-8"))
    whole = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    assert not any(alias.name == "letalone" for node in whole for alias in node.names)
