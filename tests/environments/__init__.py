"""Tests of the worlds."""
