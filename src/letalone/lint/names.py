"""A script as a tree in which names mean what was imported, and parents are known.

`np.random.laplace` is `numpy.random.laplace` after `import numpy as np`; a variable that was
assigned the result of a call is known by that call: after `rng = np.random.default_rng()`,
`rng.laplace` is `numpy.random.default_rng().laplace`. So is an attribute of `self`, and a parameter
of a function that is called as a generator usually is, or is annotated as one. Assignments are
taken wherever they stand in the file, without following the flow of the program: a linter may be
wrong, in both ways.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

GENERATOR = "numpy.random.default_rng()"
CALLED_GENERATORS = ("rng", "prng", "generator", "random_state", "random_generator")
GENERATOR_TYPES = ("numpy.random.Generator", "numpy.random.RandomState", "random.Random")
OWNERS = ("self", "cls")
MAX_ALIAS_DEPTH = 20  # names that stand for names


@dataclass(frozen=True, slots=True, eq=False)
class Script:
    """A parsed script."""

    tree: ast.Module
    imported: dict[str, str] = field(default_factory=dict[str, str])
    assigned: dict[str, ast.expr] = field(default_factory=dict[str, ast.expr])
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict[ast.AST, ast.AST])

    def full_name(self, node: ast.AST, depth: int = 0) -> str:
        """The dotted name that an expression stands for; empty where it is none."""
        match node:
            case ast.Name(id=name) if name in self.imported:
                return self.imported[name]
            case ast.Name(id=name) if name in self.assigned and depth < MAX_ALIAS_DEPTH:
                return self.full_name(self.assigned[name], depth + 1)
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if (
                owner in OWNERS and f"{owner}.{name}" in self.assigned and depth < MAX_ALIAS_DEPTH
            ):
                return self.full_name(self.assigned[f"{owner}.{name}"], depth + 1)
            case ast.Attribute(value=owner, attr=name):
                start = self.full_name(owner, depth)
                return f"{start}.{name}" if start else ""
            case ast.Call(func=called):
                start = self.full_name(called, depth)
                return f"{start}()" if start else ""
            case _:
                return ""

    def value(self, node: ast.AST) -> ast.AST:
        """What a name was assigned; anything else itself."""
        return self.assigned.get(node.id, node) if isinstance(node, ast.Name) else node

    def number(self, node: ast.AST | None) -> float | None:
        """The number that is written there, or that a name was assigned; None if unknown."""
        match None if node is None else self.value(node):
            case ast.Constant(value=int() | float() as value):
                return float(value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return -float(value)
            case _:
                return None

    def calls(self) -> Iterator[tuple[ast.Call, str]]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                yield node, self.full_name(node.func)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes that a node stands in, the nearest first."""
        while node in self.parents:
            node = self.parents[node]
            yield node


def read(text: str) -> Script:
    """A script from its text; SyntaxError where it is not Python."""
    script = Script(ast.parse(text))
    for node in ast.walk(script.tree):
        for child in ast.iter_child_nodes(node):
            script.parents[child] = node
        _learn_imports(script, node)
        _learn_assignments(script, node)
    for node in ast.walk(script.tree):
        if isinstance(node, ast.arg):
            _learn_parameter(script, node)
    return script


def find_argument(call: ast.Call, *names: str, place: int | None = None) -> ast.expr | None:
    """The value of the first of these keywords that a call has, or what stands at the place."""
    given = {word.arg: word.value for word in call.keywords}
    by_place = call.args[place : place + 1] if place is not None else []
    return next((given[name] for name in names if name in given), next(iter(by_place), None))


def _learn_imports(script: Script, node: ast.AST) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            short = alias.name.split(".")[0]
            script.imported[alias.asname or short] = alias.name if alias.asname else short
    elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
        for alias in node.names:
            script.imported[alias.asname or alias.name] = f"{node.module}.{alias.name}"


def _learn_assignments(script: Script, node: ast.AST) -> None:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            script.assigned[name] = value
        case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
            script.assigned[name] = value
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=owner), attr=name)], value=value):
            if owner in OWNERS:
                script.assigned[f"{owner}.{name}"] = value
        case ast.withitem(context_expr=value, optional_vars=ast.Name(id=name)):
            script.assigned[name] = value
        case _:
            pass


def _learn_parameter(script: Script, node: ast.arg) -> None:
    """A parameter that is a random generator, by its annotation or by its name."""
    kind = script.full_name(node.annotation) if node.annotation else ""
    if kind in GENERATOR_TYPES or node.arg in CALLED_GENERATORS:
        script.imported.setdefault(node.arg, GENERATOR)
