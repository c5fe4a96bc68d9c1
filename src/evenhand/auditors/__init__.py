"""Simulated reviewers: exact ones, and those that wrap another."""

from evenhand.auditors.adversarial import AdversarialAuditor, HostileAuditor
from evenhand.auditors.auditor import Arrival, Auditor, LateAuditor, Truth, WrappingAuditor, arriving
from evenhand.auditors.exact import DistanceAuditor, GroupAuditor, MahalanobisAuditor, NormAuditor, WobblingAuditor
from evenhand.auditors.moving import DriftingAuditor, MovingAuditor, RotatingAuditor
from evenhand.auditors.noisy import NoisyAuditor, PureNoiseAuditor
from evenhand.auditors.panel import DelayedAuditor, NamedAuditor, PanelAuditor
from evenhand.auditors.partial import OneBitAuditor, OneReportAuditor, PartialAuditor

__all__ = [
    "AdversarialAuditor",
    "Arrival",
    "Auditor",
    "DelayedAuditor",
    "DistanceAuditor",
    "DriftingAuditor",
    "GroupAuditor",
    "HostileAuditor",
    "LateAuditor",
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
    "Truth",
    "WobblingAuditor",
    "WrappingAuditor",
    "arriving",
]
