"""Anonymity: how far a table has it, how to give it some, and why that is not enough.

    import letalone as la
    la.anonymity.measure("patients.csv", quasi_identifiers=["zip"], sensitive=["diagnosis"])

Everything here looks at exact values and is for the owner of the table. A table that is
anonymous by k, l and t promises no one differential privacy.
"""

from letalone.anonymity.anonymizing import Anonymized, anonymize
from letalone.anonymity.exposure import Beside, Exposure, Limits, limits
from letalone.anonymity.hierarchies import Dates, Prefixes, Sets, Tree
from letalone.anonymity.hierarchies import NumberRanges as Ranges
from letalone.anonymity.measuring import Anonymity, Diversity, measure
from letalone.anonymity.risk import Risk

__all__ = [
    "Anonymity",
    "Anonymized",
    "Beside",
    "Dates",
    "Diversity",
    "Exposure",
    "Limits",
    "Prefixes",
    "Ranges",
    "Risk",
    "Sets",
    "Tree",
    "anonymize",
    "limits",
    "measure",
]
