"""Checking a claim from outside: does this mechanism reveal more than it says?"""

from letalone.audit.audited_table import TableAudit as TableAudit
from letalone.audit.audited_table import audit_table as audit_table
from letalone.audit.auditor import Audit as Audit
from letalone.audit.auditor import AuditVerdict as Verdict
from letalone.audit.auditor import audit as audit
from letalone.audit.auditor import confidence_of_each as confidence_of_each
from letalone.audit.one_run import TrainingAudit as TrainingAudit
from letalone.audit.one_run import audit_training as audit_training
from letalone.audit.suite import Suite as Suite
from letalone.audit.suite import audit_self as audit_self
from letalone.audit.timing import audit_timing as audit_timing

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
