"""Tests of the desk and its ledger."""
