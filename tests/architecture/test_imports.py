"""What the import contracts cannot see: parts of foreign packages, and the façade."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "letalone"
FILES = sorted(SOURCE.rglob("*.py"))
FACADE = SOURCE / "__init__.py"
TEST_MODULES = {path.stem for path in (Path(__file__).parents[1]).glob("*.py")} | {"tests"}


def imported(path: Path) -> Iterator[str]:
    """Every module, and every `module.name` that is taken from one, that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively; names are spelled out here"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def imports() -> list[tuple[Path, str]]:
    """Every file of ours with each name that it imports."""
    return [(path, name) for path in FILES for name in imported(path)]


def test_the_walk_sees_imports_inside_functions_and_of_names(tmp_path: Path) -> None:
    file = tmp_path / "example.py"
    file.write_text("def f():\n    from scipy import stats\nimport seeded\n")
    assert set(imported(file)) == {"scipy.stats", "seeded"}
    assert len(FILES) > 500
    assert any(name == "flint.arb" for _, name in imports())


def test_no_file_imports_scipy_stats_which_takes_a_second_to_load() -> None:
    assert not [path for path, name in imports() if name.startswith("scipy.stats")]


def test_no_file_imports_anything_of_the_tests() -> None:
    assert not [path for path, name in imports() if name.split(".")[0] in TEST_MODULES]


def test_only_balls_and_randomness_talk_to_arb() -> None:
    talking = {path for path, name in imports() if name.split(".")[0] == "flint"}
    rooms = [SOURCE / "exact" / "balls.py", SOURCE / "randomness"]
    assert not [path for path in talking if not any(map(path.is_relative_to, rooms))]


def test_no_file_but_the_command_line_asks_the_facade() -> None:
    """The façade reaches every layer: through it, an import could point up."""
    layers = {place.stem for place in SOURCE.iterdir()}
    asking = [
        path
        for path, name in imports()
        if name.split(".")[0] == "letalone" and name.partition(".")[2].split(".")[0] not in layers
    ]
    assert not [path for path in asking if path != FACADE and SOURCE / "cli" not in path.parents]
