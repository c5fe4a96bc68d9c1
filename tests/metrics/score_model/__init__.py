"""Tests of the score model."""
