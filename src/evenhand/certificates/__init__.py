"""Proofs that a decision is fair, made of earlier verdicts, for anybody to check."""

from evenhand.certificates._proof import Proof, lower_bounds, proof_of
from evenhand.certificates._sourced_verdicts import SourcedVerdicts
from evenhand.certificates._verdict_log import VerdictLog
from evenhand.certificates.certificate import Certificate, PairCertificate, QuotedVerdict, certify
from evenhand.certificates.check import ANSWER, check
from evenhand.certificates.evidence import Evidence

__all__ = [
    "ANSWER",
    "Certificate",
    "Evidence",
    "PairCertificate",
    "Proof",
    "QuotedVerdict",
    "SourcedVerdicts",
    "VerdictLog",
    "certify",
    "check",
    "lower_bounds",
    "proof_of",
]
