"""Where questions are asked: a table, whose privacy is protected, and a budget.

import letalone as la
visits = la.open("visits.parquet", unit="patient_id", budget=la.Budget(epsilon=2))
visits.agg(n=la.count()).release(epsilon=0.1)
"""
