"""Audit reports: what a desk decided in a period, and what became of it, from its ledger alone."""

from evenhand.report.audit import AuditReport, audit_report
from evenhand.report.period import Period

__all__ = ["AuditReport", "Period", "audit_report"]
