"""Witnesses: who keep signed heads of a service elsewhere, and notice when one contradicts another."""
