"""Registers the demo data set: sample data of a hospital, ready to be asked.

Tested:   tests/curator/http/test_serving.py
"""

from letalone.curator.curator import Curator
from letalone.curator.storage.refusals import NotThere
from letalone.curator.storage.service_records import Purpose, Registration
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.privacy import Budget
from letalone.sample.hospital import DIAGNOSES, WARDS, visits
from letalone.wire.records import DataSetRecord

NAME = "demo_visits"
PURPOSE = "look around"
PATIENTS = 2000
WORDS = "Visits to a hospital that does not exist: made-up rows, to try the service with."


def register_demo(curator: Curator, *, by: str) -> DataSetRecord:
    """Makes and registers the demo data set; the one that is there on a second start."""
    try:
        return curator.data_sets.record(NAME)
    except NotThere:
        pass
    upload = curator.data_sets.incoming("csv")
    visits(PATIENTS).to_csv(upload)
    purpose = Purpose(PURPOSE, Budget(5, 1e-6), description="Trying out what can be asked.")
    registration = Registration(_schema(), Budget(10, 1e-6), (purpose,), WORDS)
    return curator.data_sets.register(registration, upload=upload, by=by)


def _schema() -> Schema:
    """Without ZIP code and birth date: the demo does not need them."""
    columns = (
        Column("patient_id", Type.INTEGER),
        Column("ward", Type.TEXT, keys=WARDS),
        Column("gender", Type.TEXT, keys=("F", "M")),
        Column("diagnosis", Type.TEXT, keys=tuple(name for name, *_ in DIAGNOSES)),
        Column("cost", Type.NUMBER, lower=0, upper=5000),  # pyright: ignore[reportArgumentType]
    )
    return Schema(NAME, columns, unit="patient_id")
