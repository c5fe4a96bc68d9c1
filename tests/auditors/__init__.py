"""Tests of the simulated reviewers."""
