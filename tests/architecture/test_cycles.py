"""Modules are read from the bottom up: none imports itself by way of others.

Imports inside functions count: they hide a knot from Python, not from a reader. Imports for the
type checker alone (`if TYPE_CHECKING:`) do not.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"

Graph = dict[str, set[str]]


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements that run, at some time."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child
            yield from statements(child)


def imported(tree: ast.AST, modules: set[str]) -> set[str]:
    names: set[str] = set()
    for node in statements(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= (inside & modules) or {node.module or ""}
    return names & modules


def graph() -> Graph:
    trees = {name_of(path): ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}
    return {name: imported(tree, set(trees)) - {name} for name, tree in trees.items()}


def knots(edges: Graph) -> list[frozenset[str]]:
    """The largest sets of modules that all reach each other."""
    edges = without_ends(edges)
    reach = {name: reached(edges, name) for name in edges}
    together = {frozenset(m for m in reach[n] if n in reach[m]) for n in edges if n in reach[n]}
    return sorted(together, key=sorted)


def without_ends(edges: Graph) -> Graph:
    """Without modules that import none of the others, again and again: few are left to look at."""
    ends = {name for name, others in edges.items() if not others}
    if not ends:
        return edges
    return without_ends({name: edges[name] - ends for name in edges.keys() - ends})


def reached(edges: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for name in edges[waiting.pop()] - seen:
            seen.add(name)
            waiting.append(name)
    return seen


def test_the_walk_sees_a_knot_of_imports_inside_functions() -> None:
    first = ast.parse("def f():\n    from letalone.b import g\n")
    second = ast.parse("from typing import TYPE_CHECKING\nimport letalone.a\n")
    for_types = ast.parse("if TYPE_CHECKING:\n    import letalone.a\n")
    modules = {"letalone.a", "letalone.b"}
    assert knots({"letalone.a": imported(first, modules), "letalone.b": imported(second, modules)})
    assert imported(for_types, modules) == set()


@pytest.mark.long  # lint-imports holds the layers meanwhile
def test_no_module_imports_itself_by_way_of_others() -> None:
    assert [sorted(knot) for knot in knots(graph())] == []
