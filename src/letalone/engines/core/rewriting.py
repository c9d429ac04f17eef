"""Rewrites a tree in the words of another engine, by a rule for each kind of node, to print it.

Tested:   tests/engines/test_rewriting.py
"""

from collections import defaultdict
from collections.abc import Callable, Mapping

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.syntax import Sql

Rules = Mapping[type[Sql], Callable[[Sql], Sql]]
Part = tuple[str, int | None, Sql]  # under which name of its parent, and where in a list


def rewrite_tree(query: Sql, rules: Rules) -> Sql:
    """A copy of the tree, with the rules applied to each node: from the leaves up."""
    tree, waiting = query.copy(), defaultdict[int, list[Part]](list)
    for node in reversed(list(tree.dfs())):  # a rule may wrap its parts
        _put(waiting.pop(id(node), []), node)
        parent, key, place = node.parent, node.arg_key, node.index
        rule = rules.get(type(node))
        new = node if rule is None else rule(node)
        if node is tree:
            return new
        if new is not node:
            waiting[id(parent)].append((key or "", place, new))
    return tree


def _put(parts: list[Part], node: Sql) -> None:
    """The new parts of a node, at once: each by itself would have its whole list numbered anew."""
    lists: dict[str, list[Sql]] = {}
    for key, place, new in parts:
        if place is None:
            node.set(key, new)
        else:
            lists.setdefault(key, list(node.args[key]))[place] = new
    for key, nodes in lists.items():
        node.set(key, nodes)


def rewrite_call(node: Sql) -> Sql:
    """Functions of DuckDB's that servers do not have, or of another type."""
    match node.name:
        case "ISFINITE":  # NaN is larger than all numbers; no argument is a date (read otherwise)
            size = syntax.call("ABS", *node.expressions)
            return syntax.operation(exp.LT, size, syntax.infinity())
        case "DATE_TRUNC":  # a date would become a time in the session's zone
            period, value = node.expressions
            return syntax.call("DATE_TRUNC", period, syntax.cast_to(value, syntax.TIMESTAMP))
        case _:
            return node


def name_queries(tree: Sql) -> Sql:
    """The tree with nested queries under names before it, for engines that read few of those."""
    known = tree.args.get("with_")
    named: list[Sql] = [] if known is None else known.expressions
    for node in reversed(list(tree.find_all(exp.Subquery))):  # the innermost first
        name = f"letalone_query_{len(named)}"
        named.append(exp.CTE(this=node.this, alias=exp.TableAlias(this=exp.to_identifier(name))))
        node.replace(syntax.rename(syntax.table(name), node.alias))
    if named:
        tree.set("with_", exp.With(expressions=named))
    return tree
