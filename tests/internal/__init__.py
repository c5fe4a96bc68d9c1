"""Tests of shared parts."""
