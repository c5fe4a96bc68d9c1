"""Real applicants: 1,984 of the mortgage applications in `loanapp`, as contexts."""

from __future__ import annotations

from evenhand._internal.arrays import Floats
from evenhand.datasets import load


def mortgage_applicants() -> Floats:
    """29 features of each applicant as 46 columns, intercept included, (n, 46)."""
    return load("loanapp").contexts
