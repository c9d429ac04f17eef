"""Nobody reads a sentence of ours back: errors are facts, and each face words them itself.

A regular expression over a message, or a search in it, breaks when somebody rewords the message.
So each module that uses regular expressions is listed here with what it reads, which is never a
sentence of letalone; and where the text of an error, or what is called words, a note or a remark,
is searched or cut, the reason stands here.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import letalone

ROOT = Path(letalone.__file__).parent
# What the regular expressions of a module read; a module by its package and its own name.
READS = {
    "anonymity.hierarchies": "names of columns that sound like postal codes",
    "anonymity.kinds": "cells of a table: numbers and days",
    "answers.picture": "keys of groups that are months, and names of columns of years",
    "answers.row_formulas": "labels of ranges",
    "attacks.heat_map": "numbers that somebody typed",
    "attacks.canaries": "texts with planted secrets",
    "cli.noise.sums_of_releases": "tokens of a typed expression",
    "cli.tables.option_values": "numbers that somebody typed",
    "cli.trust.serve": "a size that somebody typed",
    "cli.tables.table_option": "names that sound like people, and typed SQL",
    "cli.typed": "numbers that somebody typed",
    "client.client": "ids that a service gave",
    "client.address": "the form of a token",
    "curator.data_sets.external_sources": "addresses of tables",
    "curator.asking.building": "what somebody typed into a form",
    "curator.console.directions": "HTML of templates, and letters that turn the direction",
    "curator.console.forms": "what somebody typed into a form",
    "curator.record.meaning": "a number that somebody typed",
    "curator.data_sets.uploads": "the id of an upload",
    "curator.record.public_api": "times in UTC",
    "curator.console.formatting": "ε = 0.5 wherever it stands in words, to make a link of it",
    "curator.data_sets.api": "the id of an upload",
    "curator.people.identities": "e-mail addresses and subjects of a provider",
    "curator.record.service": "signs that Markdown gives a meaning to",
    "curator.subjects.person_ids": "texts in which a person's id may stand",
    "curator.surveys.other_counter": "the address of a counter",
    "engines.duckdb.csv_lines": "bytes of a CSV file",
    "engines.duckdb.csv_files": "cells of a CSV file",
    "engines.spark.spark_dialect": "letters that SQL text can have",
    "engines.postgres.postgres_views": "how PostgreSQL writes down a view",
    "engines.spark.spark_person": "dates and times that somebody typed",
    "engines.texts.text_grammar": "cells of a table",
    "engines.texts.spreadsheet_cells": "cells of a table, and an order of days that was typed",
    "engines.sqlite.sqlite_functions": "cells of text, by patterns of LIKE",
    "exact.typed": "numbers as they are stored",
    "ledger.chain.entries": "times as they are stored",
    "lint.reading": "lines of a script, cells of a notebook, and noqa",
    "local.questionnaires.questions": "numbers that somebody typed",
    "plans.schema_file": "a schema file",
    "session.opening": "names of columns that sound like people, and paths",
    "session.steps.relative_error": "percents that somebody typed",
    "sources.files": "patterns of paths",
    "sources.places": "letters that a name cannot have",
    "sources.schemes": "addresses",
    "sources.spark_names": "names of tables",
    "sql.text": "SQL that somebody typed",
    "sql.rewriting.other_words": "regular expressions that somebody typed",
    "sql.text_functions": "patterns of dates, as people write them in SQL",
    "sql.values": "digits in quotes that somebody typed",
}
# Where the text of an error is searched or cut, and why that reads no sentence of ours.
CUTS = {
    "curator.data_sets.registration_preview": "a file's name is taken out of the words",
    "curator.data_sets.service": "a file's name is taken out of the words",
    "curator.record.api": "a folder of this machine is taken out, whatever is said around it",
    "engines.frames.arrow": "an error of Arrow",
}
# Where words are searched or cut, and why that reads no sentence of ours.
SEARCHES_WORDS = {
    "cli.trust.audit": "module:name that somebody typed",
    "cli.tables.corrections": "an example that a refusal names already is not named again",
    "cli.noise.sums_of_releases": "a sentence ends with a full stop, whatever it says",
    "client.connection": "an error of OpenSSL",
    "drawing.elements": "white space of a label",
    "drawing.scales": "a number, without what parts its thousands",
    "curator.subjects.person_ids": "texts in which a person's id may stand",
    "curator.record.service": "white space of a cell",
    "engines.frames.lazy_plan": "a step of a plan of Polars",
    "engines.postgres.postgres_diagnosis": "bytes that PostgreSQL sent",
    "plans.schema_file": "a dictionary: does a column have a remark",
    "session.batch": "a list: do all answers have this note",
    "sql.date_functions": "units of time that somebody typed",
}
# What sentences of ours are called.
SENTENCES = {
    "explain", "explanation", "hint", "in_words", "message", "note", "notes", "question",
    "relation", "remark", "remarks", "sentence", "words",
}  # fmt: skip
SEARCHES = {
    "replace", "removesuffix", "removeprefix", "partition", "rpartition", "split", "splitlines",
    "startswith", "endswith", "find", "index", "count",
}  # fmt: skip


def modules(word: str) -> Iterator[tuple[str, ast.Module]]:
    """Modules whose text has such a word: others need not be parsed."""
    for path in sorted(ROOT.rglob("*.py")):
        parts, text = path.relative_to(ROOT).with_suffix("").parts, path.read_text("utf-8")
        if re.search(word, text):
            yield ".".join(parts), ast.parse(text)


def uses_regular_expressions(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(name.name == "re" for name in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and node.module == "re":
            return True
    return False


def errors_in(tree: ast.Module) -> set[str]:
    """What errors are called in a module: in `except … as error`, or as an annotated parameter."""
    caught = {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)}
    given = {
        node.arg
        for node in ast.walk(tree)
        if isinstance(node, ast.arg)
        and node.annotation is not None
        and "Error" in ast.unparse(node.annotation)
    }
    return {name for name in caught | given if name is not None}


def searches_in_an_error(tree: ast.Module) -> bool:
    names = errors_in(tree)

    def is_text(node: ast.AST) -> bool:
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "str"
            and len(node.args) == 1
            and isinstance(node.args[0], ast.Name)
            and node.args[0].id in names
        )

    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and any(is_text(one) for one in node.comparators):
            return True
        if isinstance(node, ast.Attribute) and is_text(node.value) and node.attr in SEARCHES:
            return True
        if isinstance(node, ast.Subscript) and is_text(node.value):
            return True
    return False


def last_name(node: ast.AST) -> str | None:
    """What a value is called: `words` for `words`, `part.words`, `words()[0]` and `words or ""`."""
    while True:
        match node:
            case ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case ast.BoolOp(values=[inner, *_]):
                node = inner
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return name
            case _:
                return None


def searches_in_words(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in SEARCHES:
            searched = [node.value]
        elif isinstance(node, ast.Compare):
            pairs = zip(node.ops, node.comparators, strict=True)
            searched = [where for op, where in pairs if isinstance(op, ast.In | ast.NotIn)]
        else:
            continue
        if any(last_name(value) in SENTENCES for value in searched):
            return True
    return False


def test_regular_expressions_read_what_people_and_machines_wrote_and_no_sentence_of_ours() -> None:
    found = {name for name, tree in modules(r"\bre\b") if uses_regular_expressions(tree)}
    assert found <= READS.keys(), "say what they read"
    assert found >= READS.keys(), "some are gone"


def test_no_text_of_an_error_is_searched_or_cut() -> None:
    found = {name for name, tree in modules(r"\bstr\(\w+\)") if searches_in_an_error(tree)}
    assert found <= CUTS.keys(), "read its code and its facts instead"
    assert found >= CUTS.keys(), "some are gone"


def test_no_words_of_ours_are_searched_or_cut() -> None:
    found = {name for name, tree in modules("|".join(SENTENCES)) if searches_in_words(tree)}
    assert found <= SEARCHES_WORDS.keys(), "read what the words are made of instead"
    assert found >= SEARCHES_WORDS.keys(), "some are gone"


def test_a_search_in_an_error_is_noticed() -> None:
    for line in (
        "if 'no bounds' in str(error): pass",
        "words = str(error).replace('la.', '')",
        "words = str(error)[:10]",
    ):
        tree = ast.parse(f"try:\n    ask()\nexcept ValueError as error:\n    {line}")
        assert searches_in_an_error(tree), line
    assert not searches_in_an_error(ast.parse("if 'x' in str(other): pass"))
    assert uses_regular_expressions(ast.parse("from re import sub"))


def test_a_search_in_words_is_noticed() -> None:
    for line in (
        "words = share.words.rpartition(', by ')[2]",
        "plain = note.split('; .bound')[0]",
        "near = any(value.words.startswith('near ') for value in values)",
        "filtered = NONE_PASSES in (release.standing.remark or '')",
        "words = plan.in_words().replace('[0, 1]', 'the bounds found')",
    ):
        assert searches_in_words(ast.parse(line)), line
    assert not searches_in_words(ast.parse("kind = share.noise.partition(' ')[0]"))
