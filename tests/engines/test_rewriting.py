"""A statement is rewritten in the words of its engine in one walk, however long its lists are."""

from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.core.rewriting import rewrite_tree
from letalone.engines.postgres import postgres_words
from letalone.engines.spark import spark_dialect as spark


def one_of(many, value):
    return exp.In(this=syntax.column("x"), expressions=[value(number) for number in range(many)])


def numbered(monkeypatch, rewrite, query):
    """How many parts are told their parent and place while a tree is rewritten."""
    told = []
    taken = exp.Expression._set_parent

    def counted(self, key, value, *where):
        told.append(len(value) if isinstance(value, list) else 1)
        return taken(self, key, value, *where)

    with monkeypatch.context() as patched:
        patched.setattr(exp.Expression, "_set_parent", counted)
        rewrite(query)
    return sum(told)


def test_a_list_that_is_twice_as_long_takes_twice_the_steps_and_no_more(monkeypatch):
    """One part after the other, each with its whole list, would be four times as many."""
    for rewrite, value in (
        (postgres_words.rewrite_for_postgres, lambda number: syntax.double(number + 0.5)),
        (spark.rewrite_for_spark, lambda number: syntax.text(f"ä{number}")),
    ):
        steps = [numbered(monkeypatch, rewrite, one_of(many, value)) for many in (500, 1000)]
        assert steps[0] >= 500
        assert steps[1] <= 2.1 * steps[0]


def test_every_part_is_put_where_the_old_one_was_and_the_given_tree_stays():
    query = exp.select("1").from_("t").where(one_of(4, syntax.whole))
    before = query.sql()
    rules = {exp.Literal: lambda node: syntax.text(f"n{node.name}"), exp.In: lambda n: exp.not_(n)}
    found = rewrite_tree(query, rules)
    assert query.sql() == before
    assert found.sql() == "SELECT 'n1' FROM t WHERE NOT x IN ('n0', 'n1', 'n2', 'n3')".replace(
        "x IN", '"x" IN'
    )
    for node in found.walk():
        for part in node.iter_expressions():
            held = node.args[part.arg_key]
            assert part.parent is node
            assert (held if part.index is None else held[part.index]) is part
