"""Tests of evenhand."""
