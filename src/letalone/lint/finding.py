"""What a rule is, and what it found: a place, the reason, the remedy."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from letalone.lint.names import Script

Found = tuple[ast.AST, str]  # where, and what is wrong in this case; may be empty


@dataclass(frozen=True, slots=True)
class Rule:
    """One slip: how it is seen, why it matters, what to do."""

    code: str
    title: str
    why: str
    remedy: str
    find: Callable[[Script], Iterator[Found]]


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One place of a script that a rule points at; columns count from 1, as editors do.

    In a notebook, `cell` is the number of the code cell, and `line` counts in it.
    """

    file: str
    line: int
    column: int
    code: str
    title: str
    why: str
    remedy: str
    cell: int | None = None

    @property
    def place(self) -> str:
        cell = "" if self.cell is None else f"cell {self.cell}:"
        return f"{self.file}:{cell}{self.line}:{self.column}"

    def __str__(self) -> str:
        return f"{self.place}: {self.code} {self.title}. {self.why} {self.remedy}"

    def to_json(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__slots__}
