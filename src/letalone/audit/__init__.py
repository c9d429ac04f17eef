"""Checking a claim from outside: does this mechanism reveal more than it says?"""

from letalone.audit.audited_table import TableAudit, audit_table
from letalone.audit.auditor import Audit, audit, confidence_of_each
from letalone.audit.auditor import AuditVerdict as Verdict
from letalone.audit.one_run import TrainingAudit, audit_training
from letalone.audit.suite import Suite, audit_self
from letalone.audit.timing import audit_timing

__all__ = [
    "Audit",
    "Suite",
    "TableAudit",
    "TrainingAudit",
    "Verdict",
    "audit",
    "audit_self",
    "audit_table",
    "audit_timing",
    "audit_training",
    "confidence_of_each",
]
