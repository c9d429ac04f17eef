"""Where questions are asked: a table, whose privacy is protected, and a budget.

import letalone as la
visits = la.open("visits.parquet", unit="patient_id", budget=la.Budget(epsilon=2))
visits.agg(n=la.count()).release(epsilon=0.1)
"""

from letalone.session.locating import ROW
from letalone.session.opening import open  # noqa: A004
from letalone.session.preview import Preview
from letalone.session.query import Query
from letalone.session.release import Release
from letalone.session.session import Session

__all__ = ["ROW", "Preview", "Query", "Release", "Session", "open"]
