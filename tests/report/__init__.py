"""Tests of audit reports."""
