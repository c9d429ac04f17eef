"""Anonymity: how far a table has it, how to give it some, and why that is not enough.

    import letalone as la
    la.anonymity.measure("patients.csv", quasi_identifiers=["zip"], sensitive=["diagnosis"])

Everything here looks at exact values and is for the owner of the table. A table that is
anonymous by k, l and t promises no one differential privacy.
"""

from letalone.anonymity.anonymizing import Anonymized as Anonymized
from letalone.anonymity.anonymizing import anonymize as anonymize
from letalone.anonymity.exposure import Beside as Beside
from letalone.anonymity.exposure import Exposure as Exposure
from letalone.anonymity.exposure import Limits as Limits
from letalone.anonymity.exposure import limits as limits
from letalone.anonymity.hierarchies import Dates as Dates
from letalone.anonymity.hierarchies import Prefixes as Prefixes
from letalone.anonymity.hierarchies import Ranges as Ranges
from letalone.anonymity.hierarchies import Sets as Sets
from letalone.anonymity.hierarchies import Tree as Tree
from letalone.anonymity.measuring import Anonymity as Anonymity
from letalone.anonymity.measuring import Diversity as Diversity
from letalone.anonymity.measuring import measure as measure
from letalone.anonymity.risk import Risk as Risk

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
