"""Experiments on real candidates: simulated reviewers who follow rules, not metrics, and what peers learn from them."""
