"""Tests of FairBandit."""
