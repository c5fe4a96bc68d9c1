"""Gaussian beliefs about the metric, updated by moment matching."""
