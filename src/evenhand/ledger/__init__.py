"""The append-only record of desks: events, hash chain, SQL storage."""
