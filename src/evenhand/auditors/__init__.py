"""Simulated reviewers: exact ones, and those made from others by wrapping."""

from evenhand.auditors.adversarial import AdversarialAuditor
from evenhand.auditors.arriving import arriving
from evenhand.auditors.auditor import Arrival, Auditor, LateAuditor, Truth
from evenhand.auditors.delayed import DelayedAuditor
from evenhand.auditors.distance_auditor import DistanceAuditor
from evenhand.auditors.drifting import DriftingAuditor
from evenhand.auditors.group import GroupAuditor
from evenhand.auditors.hostile import HostileAuditor
from evenhand.auditors.mahalanobis import MahalanobisAuditor
from evenhand.auditors.moving import MovingAuditor
from evenhand.auditors.named import NamedAuditor
from evenhand.auditors.noisy import NoisyAuditor
from evenhand.auditors.norm import NormAuditor
from evenhand.auditors.one_bit import OneBitAuditor
from evenhand.auditors.one_report import OneReportAuditor
from evenhand.auditors.panel import PanelAuditor
from evenhand.auditors.partial import PartialAuditor
from evenhand.auditors.pure_noise import PureNoiseAuditor
from evenhand.auditors.rotating import RotatingAuditor
from evenhand.auditors.wobbling import WobblingAuditor
from evenhand.auditors.wrapping import WrappingAuditor

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
