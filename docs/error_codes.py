"""The page "Errors": the classes, and every code from `letalone.errors.codes`.

  python docs/error_codes.py

Tested:   tests/documentation/test_pages.py
"""

from pathlib import Path

from letalone import errors
from letalone.errors.codes import Code, Group, Spent

PAGE = Path(__file__).parent / "reference" / "errors.md"
TOP = """\
# Errors

<!-- Written by docs/error_codes.py from letalone.errors.codes; edit these. -->

Each class has an `exit_code`, which the command line exits with. A message never contains private
data. What to do about `DataSetFrozen`: [when a data set is frozen](../how-to/freezes.md).

"""
CODES = """\
## Codes

Programs need not read messages: every error has a `code`, public `facts` by name, and `remedies`,
which are records of what would help. A problem document of a service has them as members of the
same names.

```python
>>> import letalone as la
>>> try:
...     la.Budget(epsilon=-1)
... except la.ParameterError as error:
...     print(error.code.name, error.facts["name"], error.facts["value"])
VALUE_NOT_ALLOWED epsilon -1

```

An error keeps its code, facts and remedies when it is copied, pickled or sent by a service.
Unless a row says otherwise, nothing was spent. *Exit* is the exit code of the command line,
*problem* the last word of the type of a service's problem document.
"""
CLASSES = [
    "LetaloneError", "ParameterError", "BudgetExceeded", "DataSetFrozen", "NotAllowed",
    "UnsupportedQuery", "NeighboursDiffer", "FormatError", "LedgerDamaged", "LedgerUnavailable",
    "ServiceUnavailable", "PrivacyWarning",
]  # fmt: skip


def page() -> str:
    """The whole page."""
    classes = "\n\n".join(f".. autoexception:: letalone.{name}" for name in CLASSES)
    tables = "\n".join(_table(group) for group in Group)
    return f"{TOP}```{{eval-rst}}\n{classes}\n```\n\n{CODES}\n{tables}"


def _table(group: Group) -> str:
    rows = "\n".join(_row(code) for code in Code if code.group is group)
    head = "| code | when it comes | what to do | class, exit, problem |\n|---|---|---|---|"
    return f"### {group.value}\n\n{head}\n{rows}\n"


def _row(code: Code) -> str:
    kind = getattr(errors, code.error)
    problem = code.value.problem_type or kind.problem_type
    spent = "" if code.value.spent is Spent.NOTHING else f" {code.value.spent.value}"
    when = f"{code.value.when}{spent}"
    return (
        f"| `{code.name}` | {when} | {code.value.what_to_do} |"
        f" `{code.error}`, {kind.exit_code}, `{problem}` |"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
