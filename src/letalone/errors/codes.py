"""Every code of a problem: its class, what it says, when it comes, what was spent, what to do.

A code exists where somebody acts on it: a face that words it, a remedy, a client, a page. The many
arguments that are outside what is allowed share VALUE_NOT_ALLOWED; a finished sentence without a
code of its own has OTHER. `docs/reference/errors.md` is generated from this table.
"""

from dataclasses import dataclass
from enum import Enum, unique


class Group(Enum):
    """What a problem is about."""

    VALUE = "Values"
    NAME = "Names"
    MISSING = "What is missing"
    QUESTION = "The question"
    BUDGET = "The budget"
    PERMISSION = "Permission"
    STATE = "The state of things"
    STORED = "What is stored"
    ENVIRONMENT = "The surroundings"
    OTHER = "Others"


class Spent(Enum):
    """What a refused question has cost."""

    NOTHING = "Nothing was spent."
    MAYBE = "It may have been charged: asking the same again is then free."
    CHARGED = "What it cost stays spent."


@dataclass(frozen=True, slots=True)
class CodeEntry:
    """A row of the table.

    `error` names the class of `letalone.errors` that is raised with it, or a subclass; that has
    the exit code. `problem_type` is the last word of the type of the document that a service
    sends, where it is not the class's. `template` is the sentence, with the names of facts in
    braces. `served` is what a service says in place of it and of any words that came with it,
    where those name files and servers; a service says `served_as`, another code, where it knows
    better what the code means there.
    """

    group: Group
    template: str
    when: str
    what_to_do: str
    error: str = "ParameterError"
    spent: Spent = Spent.NOTHING
    problem_type: str = ""
    served: str = ""
    served_as: str = ""


MAYBE_PAID = (
    "An answer that was under way may be charged already: the same again is not charged twice."
)
NOT_WRITTEN = (
    "Nobody gets the answer, and what it spent stays spent. Tell the owner: the ledger may"
    " have no room. Asking again is charged again."
)
NOT_AS_WRITTEN = "is not as it was written. Nothing was released. Tell its owner."


@unique
class Code(Enum):
    """What went wrong; the name is what is stored and sent."""

    # Values
    VALUE_NOT_ALLOWED = CodeEntry(
        Group.VALUE,
        "{name} is {value}, but must be {allowed}. {hint}",
        "An argument, an option or a field has a value outside what is allowed.",
        "Change it; the message names it and what is allowed.",
    )
    WRONG_KIND = CodeEntry(
        Group.VALUE,
        "{what} is {kind}, but must be {allowed}.",
        "A column or a value has a type that does not fit the question.",
        "Write the value as the column's type, or declare another type.",
    )
    # Names
    UNKNOWN_COLUMN = CodeEntry(
        Group.NAME,
        "Column {name!r} is not in table {table!r}. Its columns are: {known}.",
        "A question names a column that the table does not have.",
        "Use one of the columns that the message lists.",
    )
    WHICH_TABLE = CodeEntry(
        Group.NAME,
        "{where} has several tables: {known}.",
        "A file or a database has several tables, and none was named.",
        "Name one of them.",
    )
    UNKNOWN_FILE = CodeEntry(
        Group.NAME,
        "There is no file {file}.",
        "A path leads to no file.",
        "Check the path.",
    )
    UNKNOWN_WORD = CodeEntry(
        Group.NAME,
        "{what} is {name!r}, but must be one of: {known}.",
        "A word is not one of a fixed list.",
        "Use one of the words that the message lists.",
    )
    UNKNOWN_DATA_SET = CodeEntry(
        Group.NAME,
        "The ledger has no data set {name!r}. It has: {known}. {hint}",
        "A ledger is asked about a data set that is not written in it.",
        "Check the name; `letalone ledger show` lists them.",
        served_as="LEDGER_DAMAGED",  # the database has it, which was looked at before
    )
    UNKNOWN_RECORD = CodeEntry(
        Group.NAME,
        "There is no such {what}.",
        "A service is asked for something that is not there, or not to be seen by the asker.",
        "Check the name; the lists of the service show what there is.",
        error="LetaloneError",
        problem_type="not-found",
    )
    NO_SUCH_ADDRESS = CodeEntry(
        Group.NAME,
        "There is nothing at this address. /api/v1/openapi.json lists those that there are.",
        "A service is asked at an address that it does not have.",
        "Give a client the address of the service, with nothing after the machine's name.",
        problem_type="not-found",
    )
    # What is missing
    MISSING_EPSILON = CodeEntry(
        Group.MISSING,
        "{name} is missing: the privacy to spend on this question.",
        "A question came without ε.",
        "Give one; smaller is more private, and 0.1 to 1 is usual.",
    )
    MISSING_UNIT = CodeEntry(
        Group.MISSING,
        "The column that identifies a person is missing. The columns are: {columns}.",
        "A question does not say which column identifies a person.",
        "Name that column, or say that every row is about a different person.",
    )
    MISSING_BUDGET = CodeEntry(
        Group.MISSING,
        "The budget is missing: the total ε for all questions about this table.",
        "A table is asked for the first time, and it has no budget.",
        "Set a budget once; the ledger stores it.",
    )
    MISSING_BOUNDS = CodeEntry(
        Group.MISSING,
        "No bounds are given for {columns}. Without them, one person could change the answer by any"
        " amount.",
        "A sum, mean or median of a column is asked, and its bounds are not declared.",
        "Give bounds that you know without looking at the data, or let letalone find them with a"
        " part of ε.",
    )
    MISSING_EXPRESSION_BOUNDS = CodeEntry(
        Group.MISSING,
        "The bounds of {expression} do not follow from those of its columns, and none are read"
        " from the data.",
        "An expression is added up whose value has no limit, such as a quotient.",
        "Clamp the expression to bounds that are publicly known.",
    )
    MISSING_KEYS = CodeEntry(
        Group.MISSING,
        "The groups of {columns} are not listed. letalone does not read them from the data, because"
        " a rare group can reveal a person.",
        "A question has groups that are neither listed nor declared.",
        "List them, or let letalone find common ones, which needs a δ.",
    )
    MISSING_ASKER = CodeEntry(
        Group.MISSING,
        "The budget of {name!r} has limits: name the analyst and the purpose{how}. Nothing was"
        " spent.",
        "A data set has purposes, and a question names neither purpose nor analyst.",
        "Name both.",
        error="NotAllowed",
    )
    # The question
    SQL_NOT_READ = CodeEntry(
        Group.QUESTION,
        "The SQL cannot be read.",
        "The text is not SQL in the dialect.",
        "Correct the SQL where the message points, or name its dialect.",
    )
    SQL_NOT_SUPPORTED = CodeEntry(
        Group.QUESTION,
        "{construct} has no private answer here.",
        "The SQL has a part for which letalone has no proven private answer.",
        "Ask in one of the ways that the message names.",
        error="UnsupportedQuery",
    )
    NO_PRIVATE_ANSWER = CodeEntry(
        Group.QUESTION,
        "No private answer with a proof is known for this question.",
        "A question of any kind has no proven private answer.",
        "Ask in one of the ways that the message names.",
        error="UnsupportedQuery",
    )
    NEIGHBOURS_DIFFER = CodeEntry(
        Group.QUESTION,
        "Two guarantees protect against different changes.",
        "Guarantees, budgets or tables that protect different units are put together.",
        "Ask with the unit that the budget protects, or convert one of the guarantees.",
        error="NeighboursDiffer",
    )
    ONLY_EXPLAINED = CodeEntry(
        Group.QUESTION,
        "The question begins with EXPLAIN, and is not answered.",
        "A question that begins with EXPLAIN is to be released.",
        "Remove that word to spend.",
    )
    BOUNDS_TOO_RISKY = CodeEntry(
        Group.QUESTION,
        "This ε is too small to find bounds of {columns}: about {rows} people may be outside"
        " each, more than {most}.",
        "Bounds are to be found privately with an ε that is too small for it.",
        "Give publicly known bounds, or more ε.",
    )
    NOT_CONFIRMED = CodeEntry(
        Group.QUESTION,
        "This price protects hardly anybody.",
        "One question costs more than ε = 10, or its noise is so small that the exact number would"
        " be shown. In the terminal also: only groups of more than 1,000 people would be found.",
        "Ask with a smaller ε or for a larger error, or list the groups; or confirm that it is"
        " meant.",
    )
    # The budget
    BUDGET_EXCEEDED = CodeEntry(
        Group.BUDGET,
        "The answer would spend more than is left.",
        "The question needs more than is left of the budget, or of a purpose's or analyst's limit.",
        "Ask with less ε, or for less; the owner can raise the budget.",
        error="BudgetExceeded",
    )
    BUDGET_IS_FIXED = CodeEntry(
        Group.BUDGET,
        "The budget is ({given}), but {name!r} has the budget ({budget}), which was named once and"
        " stays.",
        "A budget is given for a data set that has another one.",
        "Leave the budget out; the owner can raise it.",
    )
    DATA_SET_FROZEN = CodeEntry(
        Group.BUDGET,
        "{name!r} is frozen.",
        "An earlier question failed while the data was read, so nothing more is answered.",
        "The owner looks at why, and allows questions again.",
        error="DataSetFrozen",
    )
    WORK_FAILED = CodeEntry(
        Group.BUDGET,
        "The answer failed after it was charged, so {names} is frozen.",
        "This question failed while the data was read.",
        "The owner looks at why, and allows questions again.",
        error="DataSetFrozen",
        spent=Spent.CHARGED,
    )
    # Permission
    NOT_ALLOWED = CodeEntry(
        Group.PERMISSION,
        "No access covers this question.",
        "The analyst or the purpose has no valid limit of the budget now.",
        "Request access, or ask the owner.",
        error="NotAllowed",
    )
    NOT_RECOGNISED = CodeEntry(
        Group.PERMISSION,
        "You are not signed in, or the token is not valid.",
        "A request has no valid sign-in or token. The message does not say which part was wrong.",
        "Sign in again, or send a valid token.",
        error="LetaloneError",
        problem_type="not-authenticated",
    )
    WRONG_PASSWORD = CodeEntry(
        Group.PERMISSION,
        "The name or the password is wrong.",
        "Somebody signs in with a name and a password that do not belong together.",
        "Check both. The message does not say which is wrong.",
        error="LetaloneError",
        problem_type="not-authenticated",
    )
    SIGNED_OUT = CodeEntry(
        Group.PERMISSION,
        "You are signed out. Sign in again.",
        "A session in the console has lasted too long, or was ended.",
        "Sign in again.",
        error="LetaloneError",
        problem_type="not-authenticated",
    )
    NOT_PERMITTED = CodeEntry(
        Group.PERMISSION,
        "You do not have permission to do this.",
        "A signed-in person or a token does not have the role or the scope.",
        "Ask somebody with the role that the message names.",
        error="LetaloneError",
        problem_type="not-permitted",
    )
    TOO_MANY_TRIES = CodeEntry(
        Group.PERMISSION,
        "There were too many attempts.",
        "Too many passwords were tried for one name or from one address.",
        "Wait as long as the message says.",
        error="LetaloneError",
        problem_type="too-many-requests",
    )
    # The state of things
    RETIRED = CodeEntry(
        Group.STATE,
        "The data set was retired.",
        "The data set was retired, or its retention date is over: its rows are gone.",
        "Nothing is answered about it any more.",
        error="NotAllowed",
        problem_type="retired",
    )
    ALREADY_DECIDED = CodeEntry(
        Group.STATE,
        "This has changed in the meantime.",
        "A request was decided before, or a name is taken.",
        "Look at it again, and decide then.",
        error="LetaloneError",
        problem_type="conflict",
    )
    CLOSED = CodeEntry(
        Group.STATE,
        "The session of {name!r} is closed.",
        "A table is asked after it was closed.",
        "Open it again.",
    )
    # What is stored
    DAMAGED = CodeEntry(
        Group.STORED,
        "A stored file is damaged, or was written by a newer letalone.",
        "A file, a receipt or a text does not have the form in which letalone writes it.",
        "Use the file as it was written, or a newer letalone.",
        error="FormatError",
    )
    LEDGER_DAMAGED = CodeEntry(
        Group.STORED,
        "The ledger is not as it was written.",
        "A ledger or a receipt was changed after it was written.",
        "Rely on nothing in it: tell its owner at once, who restores a backup.",
        error="LedgerDamaged",
        served=f"The ledger {NOT_AS_WRITTEN}",
    )
    NOT_A_LEDGER = CodeEntry(
        Group.STORED,
        "This is not a ledger.",
        "A file or a database that is opened as a ledger is something else.",
        "Check the path.",
        error="FormatError",
        served_as="LEDGER_DAMAGED",
    )
    DATABASE_DAMAGED = CodeEntry(
        Group.STORED,
        "The service's database is not as it was written.",
        "The database of a service was changed from outside.",
        "Tell its owner at once.",
        error="FormatError",
        problem_type="database-damaged",
        served=f"The service's database {NOT_AS_WRITTEN}",
    )
    # The surroundings
    LEDGER_UNAVAILABLE = CodeEntry(
        Group.ENVIRONMENT,
        "The ledger cannot be used now.",
        "The ledger cannot be read or written, so nothing is released.",
        "Look at the disk or the server of the ledger, then ask the same again.",
        error="LedgerUnavailable",
        spent=Spent.MAYBE,
        served=f"The ledger cannot be used now. {MAYBE_PAID}",
    )
    ANSWER_NOT_WRITTEN = CodeEntry(
        Group.ENVIRONMENT,
        "The ledger could not store the answer.",
        "The answer was computed and could not be stored, so nobody gets it.",
        "Make room for the ledger. Asking again is charged again.",
        error="LedgerUnavailable",
        spent=Spent.CHARGED,
        problem_type="answer-not-written",
        served=f"The ledger could not store the answer. {NOT_WRITTEN}",
    )
    UNDER_WAY = CodeEntry(
        Group.ENVIRONMENT,
        "The same question is being answered at this moment.",
        "Two askers ask the same at the same time.",
        "Ask the same again in a moment: its answer is then a repeat, which is free.",
        error="LedgerUnavailable",
        problem_type="under-way",
    )
    DATABASE_UNAVAILABLE = CodeEntry(
        Group.ENVIRONMENT,
        "The service's database cannot be used now.",
        "The database of a service cannot be read or written.",
        "Look at its disk or its server, then ask the same again.",
        error="ServiceUnavailable",
        spent=Spent.MAYBE,
        problem_type="database-unavailable",
        served=f"The service's database cannot be used now. {MAYBE_PAID}",
    )
    SERVICE_UNAVAILABLE = CodeEntry(
        Group.ENVIRONMENT,
        "A service cannot be reached now.",
        "A service or a database server cannot be reached, does not answer in time, or fails.",
        "Try again later.",
        error="ServiceUnavailable",
        spent=Spent.MAYBE,
    )
    DATA_UNREADABLE = CodeEntry(
        Group.ENVIRONMENT,
        "The data cannot be read now.",
        "The rows cannot be opened, or are not those that were opened. No row was read.",
        "The owner looks at the file or the table that has the rows. Nothing is frozen.",
        error="ServiceUnavailable",
        problem_type="data-unreadable",
    )
    ENGINE_FAILED = CodeEntry(
        Group.ENVIRONMENT,
        "The engine could not finish. The owner of the data set has to look.",
        "An engine gave up. Its own words may quote data, so they are not passed on.",
        "The owner looks at the engine's log.",
        error="LetaloneError",
        spent=Spent.MAYBE,
    )
    OTHER = CodeEntry(
        Group.OTHER,
        "",
        "A message that has no separate code; its class says what kind it is.",
        "The message says it.",
        error="LetaloneError",
    )

    def __reduce_ex__(self, protocol: object) -> tuple[object, ...]:
        return getattr, (Code, self.name)  # a stored code is its name, and not its row

    @property
    def group(self) -> Group:
        return self.value.group

    @property
    def error(self) -> str:
        return self.value.error

    @property
    def template(self) -> str:
        return self.value.template
