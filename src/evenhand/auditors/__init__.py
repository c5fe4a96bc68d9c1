"""Simulated reviewers: exact ones, with a metric or with rules, and those that wrap another."""

from evenhand.auditors.auditor import Arrival, Auditor, LateAuditor, Truth, WrappingAuditor, arriving
from evenhand.auditors.exact import (
    DistanceAuditor,
    DriftingAuditor,
    GroupAuditor,
    MahalanobisAuditor,
    MovingAuditor,
    NormAuditor,
    RotatingAuditor,
    WobblingAuditor,
)
from evenhand.auditors.panel import DelayedAuditor, NamedAuditor, PanelAuditor
from evenhand.auditors.partial import OneBitAuditor, OneReportAuditor, PartialAuditor
from evenhand.auditors.rules import Branch, Criterion, LexicographicAuditor, ThresholdAuditor, TreeAuditor
from evenhand.auditors.wrong import AdversarialAuditor, HostileAuditor, NoisyAuditor, PureNoiseAuditor, SoftAuditor

__all__ = [
    "AdversarialAuditor",
    "Arrival",
    "Auditor",
    "Branch",
    "Criterion",
    "DelayedAuditor",
    "DistanceAuditor",
    "DriftingAuditor",
    "GroupAuditor",
    "HostileAuditor",
    "LateAuditor",
    "LexicographicAuditor",
    "MahalanobisAuditor",
    "MovingAuditor",
    "NamedAuditor",
    "NoisyAuditor",
    "NormAuditor",
    "OneBitAuditor",
    "OneReportAuditor",
    "PanelAuditor",
    "PartialAuditor",
    "PureNoiseAuditor",
    "RotatingAuditor",
    "SoftAuditor",
    "ThresholdAuditor",
    "TreeAuditor",
    "Truth",
    "WobblingAuditor",
    "WrappingAuditor",
    "arriving",
]
