"""Tests of the desk window."""
