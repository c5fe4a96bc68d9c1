"""The laboratory: sweeps, stores, statistics, curves, reports and its commands."""
