"""Judgements of real people as an experiment: prediction from their answers, and decisions under their review."""
