"""The dashboard: functions from a desk to what its pages show, and the live stream. No HTTP in it."""
