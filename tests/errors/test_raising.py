"""Where errors are raised: a code with its class, every code somewhere, and no field is lost."""

import ast
from collections.abc import Iterator
from pathlib import Path

import letalone
from letalone import errors
from letalone.errors.codes import Code

ROOT = Path(letalone.__file__).parent
WITH_FIELDS = {"BudgetExceeded", "DataSetFrozen"}


def modules(*words: str) -> Iterator[tuple[str, ast.Module]]:
    """The modules in whose text one of these words stands."""
    for path in sorted(ROOT.rglob("*.py")):
        name, text = ".".join(path.relative_to(ROOT).with_suffix("").parts), path.read_text("utf-8")
        if any(word in text for word in words):
            yield name, ast.parse(text)


def called(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.id if isinstance(node.func, ast.Name) else ""


def code_in(node: ast.AST) -> str:
    """The X of problem(Code.X, …)."""
    if called(node) not in {"problem", "Problem"} or not isinstance(node, ast.Call):
        return ""
    first = node.args[0] if node.args else None
    is_code = isinstance(first, ast.Attribute) and ast.unparse(first.value) == "Code"
    return first.attr if is_code and isinstance(first, ast.Attribute) else ""


def raised() -> Iterator[tuple[str, str, str]]:
    """Module, class and code of errors that are made of a problem with a code."""
    for module, tree in modules("Code."):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and (code := code_in(node.args[0])):
                yield module, called(node), code


def test_a_code_is_raised_with_its_class() -> None:
    found = [(module, kind, code) for module, kind, code in raised() if hasattr(errors, kind)]
    assert len(found) > 5
    for module, kind, code in found:
        usual = getattr(errors, Code[code].error)
        assert issubclass(getattr(errors, kind), usual) or code == "OTHER", (module, kind, code)


def test_every_code_is_used() -> None:
    files = [path for path in ROOT.rglob("*.py") if path.name not in {"codes.py", "remedies.py"}]
    sources = "".join(path.read_text("utf-8") for path in files)
    used = [code for code in Code if f"Code.{code.name}" in sources or f'"{code.name}"' in sources]
    assert used == list(Code)


def loses_fields(function: ast.AST) -> bool:
    """Whether a function catches an error with fields, and makes another of its text alone."""
    caught = {
        name
        for node in ast.walk(function)
        if isinstance(node, ast.ExceptHandler) and node.type is not None
        for name in WITH_FIELDS
        if name in ast.unparse(node.type)
    }
    return any(
        called(node) in caught
        and isinstance(node, ast.Call)
        and not node.keywords
        and (isinstance(node.args[0], ast.JoinedStr | ast.Constant) or is_words(node.args[0]))
        for node in ast.walk(function)
    )


def is_words(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in {"words", "message", "text"}


def test_no_error_loses_its_fields_when_it_is_raised_again() -> None:
    found = {
        module
        for module, tree in modules(*WITH_FIELDS)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and loses_fields(node)
    }
    assert not found


def test_a_lost_field_is_noticed() -> None:
    lost = """
def ask():
    try:
        release()
    except BudgetExceeded as error:
        raise BudgetExceeded(f"{error} Ask for less.")
"""
    assert loses_fields(ast.parse(lost))
    assert not loses_fields(ast.parse(lost.replace('f"{error} Ask for less."', "error.problem")))
