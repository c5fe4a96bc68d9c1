"""Simulated reviewers."""

from evenhand.auditors.auditor import Auditor
from evenhand.auditors.mahalanobis import MahalanobisAuditor

__all__ = ["Auditor", "MahalanobisAuditor"]
