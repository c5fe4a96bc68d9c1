"""Proofs that a decision is fair, made of earlier verdicts, for anybody to check."""

from evenhand.certificates._budget import OutOfBudget, SearchBudget
from evenhand.certificates._proof import Proof, ProofSearch, lower_bounds, proof_of
from evenhand.certificates._sourced_verdicts import SourcedVerdicts
from evenhand.certificates._verdict_log import VerdictLog
from evenhand.certificates.certificate import Certificate, PairCertificate, QuotedVerdict, certify, certify_from_log
from evenhand.certificates.check import ANSWER, check
from evenhand.certificates.evidence import Evidence

__all__ = [
    "ANSWER",
    "Certificate",
    "Evidence",
    "OutOfBudget",
    "PairCertificate",
    "Proof",
    "ProofSearch",
    "QuotedVerdict",
    "SearchBudget",
    "SourcedVerdicts",
    "VerdictLog",
    "certify",
    "certify_from_log",
    "check",
    "lower_bounds",
    "proof_of",
]
