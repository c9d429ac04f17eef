"""Checking a claim from outside: does this mechanism reveal more than it says?"""

from letalone.audit.auditor import Audit as Audit
from letalone.audit.auditor import Verdict as Verdict
from letalone.audit.auditor import audit as audit
from letalone.audit.auditor import confidence_of_each as confidence_of_each

__all__ = ["Audit", "Verdict", "audit", "confidence_of_each"]
