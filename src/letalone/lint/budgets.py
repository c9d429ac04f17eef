"""Budgets that are spent, or begin again, at every turn of a loop."""

import ast
from collections.abc import Iterator

from letalone.lint.finding import Found
from letalone.lint.names import Script, keyword

SPENDERS = ("letalone.", "diffprivlib.", "opendp.", "pydp.", "pipeline_dp.", "snsql.")
DESCRIPTIONS = ("Budget", "PureDP", "ApproxDP", "BudgetAccountant")  # they spend nothing
BUDGETS = ("letalone.Budget", "letalone.Filter", "letalone.learn.Account", "BudgetAccountant")
REPEATED = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def spent_in_loops(script: Script) -> Iterator[Found]:
    """A call with an epsilon that a loop does not divide."""
    for node, name in script.calls():
        epsilon = keyword(node, "epsilon")
        if (
            name.endswith(DESCRIPTIONS)
            or epsilon is None
            or not in_a_loop(script, node)
            or _is_shared(script, epsilon)
        ):
            continue
        is_release = isinstance(node.func, ast.Attribute) and node.func.attr == "release"
        if name.startswith(SPENDERS) or is_release:
            shown = name or "release"
            yield node, f"Here: {shown}(epsilon={ast.unparse(epsilon)})."


def begun_in_loops(script: Script) -> Iterator[Found]:
    """A budget or an accountant that is made anew at every turn."""
    for node, name in script.calls():
        if name.endswith(BUDGETS) and in_a_loop(script, node):
            yield node, f"Here: {name.split('.')[-1]}."


def in_a_loop(script: Script, node: ast.AST) -> bool:
    """Whether it runs at every turn of a loop in the same function."""
    below = node
    for above in script.above(node):
        if isinstance(above, OWN_SCOPE):
            return False
        if isinstance(above, ast.For | ast.AsyncFor) and below not in (above.iter, above.target):
            return below not in above.orelse
        if isinstance(above, ast.While):
            return below not in above.orelse
        if isinstance(above, REPEATED) and below is not above.generators[0]:
            return True
        below = above
    return False


def _is_shared(script: Script, epsilon: ast.expr) -> bool:
    """Whether it is a part of something: 1 / len(columns), or a name that was assigned one."""
    if isinstance(epsilon, ast.Name) and epsilon.id in script.assigned:
        epsilon = script.assigned[epsilon.id]
    return any(_makes_less(script, node) for node in ast.walk(epsilon))


def _makes_less(script: Script, node: ast.AST) -> bool:
    """A division, or a product with a factor that is seen to be below 1."""
    if not isinstance(node, ast.BinOp):
        return False
    factors = (script.number(node.left), script.number(node.right))
    is_part = any(one is not None and one < 1 for one in factors)
    return isinstance(node.op, ast.Div) or (isinstance(node.op, ast.Mult) and is_part)
