"""Changes a form from SQL to choosing and back: nothing that was typed in the one is lost.

What is not shown is carried along in the form. SQL that says no more than can be chosen fills the
choices. Back in SQL, the text is there as it was typed if nothing else was chosen meanwhile;
otherwise the choices are written as SQL, and the text from before is offered beside.

  Tested:   tests/curator/console/test_other_way.py
"""

from collections.abc import Callable

from starlette.datastructures import FormData

from letalone.curator.asking.building import CONDITIONS, OF_A_COLUMN, build_sql
from letalone.curator.asking.refill import Fields, choices_of
from letalone.curator.console.forms import SubmittedForm, form_of
from letalone.errors import ParameterError
from letalone.plans.plan import Plan
from letalone.plans.schema import Schema

SQL, BUILD, BACK = "sql", "build", "back"
SAME, MORE = "same", "more"  # what the SQL says, held against what can be chosen
OF_A_CONDITION = ("where", "how", "value")
OF_CHOICES = (
    *("what", "of", "by"),
    *(f"{part}_{number}" for number in CONDITIONS for part in OF_A_CONDITION),
)
OF_ALL = ("data_set", "purpose", "way", "pay", "delta", "confidence", "rows", "max_rows")
OF_SQL = ("sql", "keys", "chosen_sql", "says")
OFFERED = ("other_sql", "other_keys")


def other_fields(form: SubmittedForm, schema: Schema, read: Callable[[], Plan | None]) -> Fields:
    """All fields of the form, for the way that was pressed; `read` reads the SQL as a plan."""
    match form.text("to"), form.text("way"):
        case "back", _:
            sql, keys = (form.text(field) for field in OFFERED)
            return _with(form, OFFERED, way=SQL, sql=sql, keys=keys)
        case "sql", way if way != SQL:
            return _to_sql(form, schema)
        case "build", "sql":
            return _to_choices(form, schema, read)
        case _:
            return _with(form)


def hidden_fields(fields: FormData, way: str) -> Fields:
    """What the other way has typed: it goes along unseen."""
    names = (*OF_CHOICES, *OFFERED) if way == SQL else OF_SQL
    return [(name, str(value)) for name, value in fields.multi_items() if name in names and value]


def asked_fields(form: SubmittedForm) -> Fields:
    """The fields that decide what is asked and at which price, and no others."""
    price = "error" if form.text("pay") == "error" else "epsilon"
    if form.text("way") == BUILD:
        left_out = () if form.text("what") in OF_A_COLUMN else ("of",)
        names = [item for item in OF_CHOICES if item not in ("by", *left_out)]
        groups = [("by", item) for item in form.all("by")]
    else:
        names, groups = ["sql", "keys"], []
    single = [(item, form.text(item)) for item in (*OF_ALL, price, *names)]
    return [item for item in single if item[1]] + groups


def _to_sql(form: SubmittedForm, schema: Schema) -> Fields:
    now, typed, keys = build_sql(form, schema), form.text("sql"), form.text("keys")
    if not typed or _alike(typed, now):
        return _with(form, OF_SQL, way=SQL, sql=now)
    if _alike(now, form.text("chosen_sql")):
        return _with(form, OF_SQL, way=SQL, sql=typed, keys=keys)
    return _with(form, OF_SQL, way=SQL, sql=now, other_sql=typed, other_keys=keys)


def _to_choices(form: SubmittedForm, schema: Schema, read: Callable[[], Plan | None]) -> Fields:
    plan = read() if form.text("sql") else None
    choices = None if plan is None else choices_of(plan)
    chosen = [] if choices is None else [choice for choice in choices if choice[0] in OF_CHOICES]
    kept = _with(form, () if choices is None else OF_CHOICES, way=BUILD) + chosen
    says = SAME if choices is not None else MORE if form.text("sql") else ""
    return [*kept, ("chosen_sql", _sql_of_choices(kept, schema)), ("says", says)]


def _sql_of_choices(fields: Fields, schema: Schema) -> str:
    try:
        return build_sql(SubmittedForm(form_of(fields)), schema)
    except ParameterError:
        return ""


def _with(form: SubmittedForm, without: tuple[str, ...] = (), **fields: str) -> Fields:
    dropped = {*without, *fields, "to"}
    others = [(n, str(v)) for n, v in form.fields.multi_items() if n not in dropped]
    return [*others, *fields.items()]


def _alike(text: str, other: str) -> bool:
    """A browser sends other ends of lines than it was given."""
    return text.split() == other.split()
