"""The state of a desk: a bandit that has processed the ledger up to an event."""
