"""Made-up tables that everyday questions are about: visits, orders, employees and events.

Each has what its owner would declare in public (types, bounds, some keys) and public tables beside
it. Columns that have no bounds or keys are left so on purpose.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import letalone as la

WARDS = ("Cardiology", "Emergency", "Geriatrics", "Neurology", "Oncology", "Paediatrics", "Surgery")
CITIES = ("Berlin", "Bonn", "Freiburg", "Hamburg", "Köln", "München", "Regensburg")
CHAPTERS = (
    "A01",
    "A09",
    "C34",
    "C50",
    "E11",
    "I10",
    "I21",
    "I25",
    "I50",
    "J18",
    "J44",
    "K35",
    "S72",
)
COUNTRIES = ("AT", "CH", "DE", "DK", "ES", "FR", "IT", "NL", "PL", "SE")
STATUSES = ("cancelled", "paid", "pending", "refunded")
CHANNELS = ("app", "shop", "web")
EDUCATIONS = ("Bachelor", "Master", "PhD", "School")
EVENTS = ("login", "purchase", "signup", "view")
EPOCH = np.datetime64("2023-01-01")
DAYS = 731
Columns = Mapping[str, Any]
Budget = la.Budget(epsilon=10**6, delta=0.5)


@dataclass(frozen=True)
class Table:
    """A private table with its session, and the public tables beside it."""

    name: str
    rows: pa.Table
    session: la.Session
    public: Mapping[str, pa.Table]


def made_up_tables(people: int = 6000) -> dict[str, Table]:
    draw = np.random.default_rng(2026)
    made = [make(draw, people) for make in (_visits, _orders, _employees, _events)]
    return {table.name: table for table in made}


def _opened(
    name: str,
    columns: Columns,
    unit: str | None,
    declared: Mapping[str, Any],
    public: Mapping[str, Columns],
) -> Table:
    rows = pa.table(dict(columns))
    known = [_declare(field, declared.get(field.name, {})) for field in rows.schema]
    schema = la.Schema(name, tuple(known))
    session = la.open(rows, unit=unit or la.ROW, schema=schema, budget=Budget, name=name)
    return Table(name, rows, session, {key: pa.table(dict(table)) for key, table in public.items()})


def _declare(column: pa.Field, declared: Mapping[str, Any]) -> la.Column:
    kinds = {"string": "text", "bool": "boolean", "double": "number", "int64": "integer"}
    kind = str(column.type)
    usual = "date" if kind.startswith("date") else "timestamp"
    return la.Column(column.name, kinds.get(kind, usual), **declared)


def _per_person(draw: np.random.Generator, people: int) -> Any:
    """Whose row each is: one to eight rows a person."""
    return np.repeat(np.arange(people), np.minimum(draw.geometric(0.35, people), 8))


def _some(
    draw: np.random.Generator, values: Sequence[Any], size: int, skew: float = 1.0
) -> pa.Array:
    weights = 1 / np.arange(1, len(values) + 1) ** skew
    places = draw.choice(len(values), size, p=weights / weights.sum())
    return pa.array(values).take(pa.array(places))


def _missing(draw: np.random.Generator, values: Any, share: float) -> pa.Array:
    gone = draw.random(len(values)) < share
    plain = values.to_pylist() if isinstance(values, pa.Array) else list(values)
    return pa.array([None if out else value for out, value in zip(gone, plain, strict=True)])


def _dates(draw: np.random.Generator, size: int) -> Any:
    return EPOCH + draw.integers(0, DAYS, size)


def _times(draw: np.random.Generator, days: Any) -> Any:
    return days.astype("datetime64[us]") + draw.integers(0, 86400, len(days)) * np.timedelta64(
        10**6, "us"
    )


def _bounds(lower: float, upper: float) -> dict[str, float]:
    return {"lower": lower, "upper": upper}


def _visits(draw: np.random.Generator, people: int) -> Table:
    who = _per_person(draw, people)
    size = len(who)
    born = draw.integers(1930, 2020, people)[who]
    days = _dates(draw, size)
    stay = np.minimum(draw.geometric(0.2, size), 30)
    admitted = _times(draw, days)
    ward = draw.choice(len(WARDS), size, p=np.array([20, 25, 10, 8, 15, 7, 15]) / 100)
    bill = np.round(np.minimum(draw.gamma(2, 400, size), 4999), 2)
    columns = {
        "patient_id": pa.array([f"p{number:06d}" for number in who]),
        "ward": pa.array(WARDS).take(pa.array(ward)),
        "ward_id": pa.array(ward + 1, pa.int64()),
        "sex": pa.array(np.array(["f", "m"])[draw.integers(0, 2, people)[who]]),
        "age": pa.array(2024 - born, pa.int64()),
        "birth_year": pa.array(born, pa.int64()),
        "smoker": pa.array(draw.random(people)[who] < 0.3),
        "diagnosis": _some(draw, [f"{c}.{n}" for c in CHAPTERS for n in range(10)], size, 0.8),
        "insurer": _some(draw, ["A1", "B2", "C3"], size),
        "city": _some(draw, CITIES, size, 0.5),
        "bill": pa.array(bill),
        "paid": _missing(draw, np.round(bill * draw.random(size), 2), 0.05),
        "tip": pa.array(np.round(draw.gamma(2, 5, size), 1)),
        "readmitted": pa.array((draw.random(size) < 0.12).astype(int), pa.int64()),
        "score": _missing(draw, draw.integers(1, 6, size).astype(float), 0.1),
        "height": pa.array(np.round(draw.normal(170, 9, size).clip(120, 215))),
        "weight": pa.array(np.round(draw.normal(75, 12, size).clip(35, 190))),
        "systolic": pa.array(np.round(draw.normal(130, 18, size).clip(80, 219))),
        "visit_date": pa.array(days.astype("datetime64[D]")),
        "admitted_at": pa.array(admitted),
        "discharged_at": pa.array(admitted + stay * np.timedelta64(86400 * 10**6, "us")),
    }
    declared = {
        "ward": {"keys": list(WARDS)},
        "ward_id": {"keys": list(range(1, 8))},
        "sex": {"keys": ["f", "m"]},
        "age": _bounds(0, 110),
        "birth_year": _bounds(1920, 2025),
        "bill": _bounds(0, 5000),
        "paid": _bounds(0, 5000),
        "readmitted": {**_bounds(0, 1), "keys": [0, 1]},
        "score": _bounds(1, 5),
        "height": _bounds(100, 220),
        "weight": _bounds(30, 200),
        "systolic": _bounds(80, 220),
    }
    public = {
        "wards": {
            "ward_id": list(range(1, 8)),
            "name": [f"Ward {letter}" for letter in "ABCDEFG"],
            "building": ["North", "North", "South", "South", "North", "East", "East"],
            "beds": [40, 25, 60, 30, 45, 20, 50],
        },
        "cities": {
            "city": CITIES,
            "region": ["East", "West", "South", "North", "West", "South", "South"],
        },
        "insurers": {"insurer": ["A1", "B2", "C3"], "name": ["Alpha", "Beta", "Gamma"]},
    }
    return _opened("visits", columns, "patient_id", declared, public)


def _orders(draw: np.random.Generator, people: int) -> Table:
    who = _per_person(draw, people)
    size = len(who)
    days = _dates(draw, size)
    created = _times(draw, days)
    ship = draw.integers(0, 15, size)
    quantity, price = draw.integers(1, 6, size), np.round(draw.gamma(2, 30, size).clip(1, 390), 2)
    columns = {
        "order_id": pa.array(np.arange(size), pa.int64()),
        "customer_id": pa.array(who, pa.int64()),
        "order_date": pa.array(days.astype("datetime64[D]")),
        "created_at": pa.array(created),
        "status": _some(draw, ["paid", "pending", "refunded", "cancelled"], size),
        "channel": _some(draw, CHANNELS, size),
        "country": _some(draw, ["DE", *(c for c in COUNTRIES if c != "DE")], size),
        "product_id": pa.array(draw.integers(1, 21, size), pa.int64()),
        "quantity": pa.array(quantity, pa.int64()),
        "unit_price": pa.array(price),
        "amount": pa.array(np.round(quantity * price, 2)),
        "coupon": _missing(draw, _some(draw, ["SPRING", "VIP"], size), 0.7),
        "is_returned": pa.array(draw.random(size) < 0.08),
        "payment_method": _some(draw, ["card", "invoice", "paypal"], size),
        "shipped_date": _missing(draw, pa.array((days + ship).astype("datetime64[D]")), 0.1),
        "shipped_at": pa.array(created + ship * np.timedelta64(86400 * 10**6, "us")),
    }
    declared = {
        "status": {"keys": list(STATUSES)},
        "channel": {"keys": list(CHANNELS)},
        "country": {"keys": list(COUNTRIES)},
        "quantity": _bounds(0, 10),
        "unit_price": _bounds(0, 400),
        "amount": _bounds(0, 2000),
    }
    public = {
        "products": {
            "product_id": list(range(1, 21)),
            "name": [f"Product {letter}" for letter in "ABCDEFGHIJKLMNOPQRST"],
            "category": ["books", "food", "games", "tools"] * 5,
            "price": [float(5 * number) for number in range(1, 21)],
        },
        "countries": {
            "country": COUNTRIES,
            "name": [f"Country {code}" for code in COUNTRIES],
            "region": [
                "Mid",
                "Mid",
                "Mid",
                "North",
                "South",
                "West",
                "South",
                "West",
                "East",
                "North",
            ],
        },
    }
    return _opened("orders", columns, "customer_id", declared, public)


def _employees(draw: np.random.Generator, people: int) -> Table:
    size = 3 * people
    salary = np.round(draw.normal(48000, 14000, size).clip(15000, 150000))
    columns = {
        "emp_id": pa.array(np.arange(size), pa.int64()),
        "dept_id": pa.array(draw.integers(1, 7, size), pa.int64()),
        "job": _some(draw, ["clerk", "engineer", "manager", "analyst", "driver"], size),
        "salary": pa.array(salary),
        "bonus": _missing(draw, np.round(draw.gamma(2, 1500, size).clip(0, 19000)), 0.4),
        "age": pa.array(draw.integers(18, 67, size), pa.int64()),
        "gender": _some(draw, ["f", "m"], size, 0.1),
        "education": _some(draw, EDUCATIONS, size, 0.5),
        "hours": pa.array(draw.normal(38, 6, size).clip(5, 79)),
        "performance": pa.array(draw.integers(1, 6, size), pa.int64()),
        "hire_date": pa.array(np.datetime64("2008-01-01") + draw.integers(0, 5800, size)),
    }
    declared = {
        "dept_id": {"keys": list(range(1, 7))},
        "salary": _bounds(0, 200000),
        "bonus": _bounds(0, 20000),
        "age": _bounds(16, 70),
        "gender": {"keys": ["f", "m"]},
        "education": {"keys": list(EDUCATIONS)},
        "performance": _bounds(1, 5),
    }
    public = {
        "departments": {
            "dept_id": list(range(1, 7)),
            "name": ["Finance", "HR", "IT", "Logistics", "Research", "Sales"],
            "location": ["Bonn", "Bonn", "Essen", "Essen", "Mainz", "Mainz"],
        }
    }
    return _opened("employees", columns, None, declared, public)


def _events(draw: np.random.Generator, people: int) -> Table:
    who = _per_person(draw, people)
    size = len(who)
    signed = (np.datetime64("2024-01-01") + draw.integers(0, 180, people))[who]
    days = signed + draw.integers(0, 120, size)
    columns = {
        "user_id": pa.array([f"u{number}" for number in who]),
        "event": _some(draw, ["view", "login", "purchase", "signup"], size),
        "event_time": pa.array(_times(draw, days)),
        "signup_date": pa.array(signed.astype("datetime64[D]")),
        "platform": _some(draw, ["web", "ios", "android"], size),
        "plan": _some(draw, ["free", "pro", "team"], size),
        "session_minutes": pa.array(np.round(draw.gamma(2, 8, size).clip(0, 119))),
    }
    declared = {
        "event": {"keys": list(EVENTS)},
        "platform": {"keys": ["android", "ios", "web"]},
        "plan": {"keys": ["free", "pro", "team"]},
        "session_minutes": _bounds(0, 120),
    }
    return _opened("events", columns, "user_id", declared, {})
