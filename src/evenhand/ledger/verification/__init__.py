"""Verifying a ledger with what somebody kept: signed heads, and the tokens of its actors."""
