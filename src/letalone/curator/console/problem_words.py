"""Rewords errors that speak of Python, a command line or addresses for people at a page.

Tested:   tests/curator/console/test_wording.py
"""

from collections.abc import Sequence
from dataclasses import replace

from letalone.curator.asking.questions import OnlyExplained
from letalone.curator.http.problems import ProblemDocument, of_error
from letalone.curator.storage.refusals import NotRecognised
from letalone.errors import DataSetFrozen, LetaloneError
from letalone.errors.codes import Code
from letalone.plans.plan import GroupColumn
from letalone.plans.types import Type
from letalone.tables.split import KeysNeeded

ASK_ITS_OWNER = "Its owner has to look at it: ask them."
EXPLAINED = "It begins with EXPLAIN: remove that word to spend."
ONE, SEVERAL = "one in each line", 'as JSON, such as [["A", 2019], ["B", 2019]]'
NO_MATCH, SIGNED_OUT = "That name and password do not match", "You were signed out"
NOT_SIGNED_IN = "You could not be signed in"
TITLES = {Code.WRONG_PASSWORD: NO_MATCH, Code.SIGNED_OUT: SIGNED_OUT}
SUCH_AS = {Type.INTEGER: "2019", Type.DATE: "2024-01-31", Type.BOOLEAN: "yes"}


def problem_for_people(error: LetaloneError) -> ProblemDocument:
    """The problem that an error is, in the words of the console; with the field to change."""
    usual = of_error(error)
    words, more = usual.detail, dict(usual.more)
    match error:
        case DataSetFrozen(remedy=remedy) if remedy:
            words = f"{error.fact} {ASK_ITS_OWNER}"
        case OnlyExplained():
            words = EXPLAINED
        case KeysNeeded():
            words, more["errors"] = _which_groups(error.groups), [{"field": "keys"}]
        case NotRecognised():
            more["title"] = TITLES.get(error.code, NOT_SIGNED_IN)
        case _:  # the message of the API is as good
            pass
    return replace(usual, detail=words, more=more)


def _which_groups(groups: Sequence[GroupColumn]) -> str:
    names = " and ".join(group.name for group in groups)
    such = SUCH_AS.get(groups[0].type)
    how = SEVERAL if len(groups) > 1 else ONE + (f", such as {such}" if such else "")
    return f"Which values of {names}? Write them under Which groups?, {how}."
