"""Tests of past decisions."""
