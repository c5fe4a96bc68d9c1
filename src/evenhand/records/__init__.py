"""The records that pass between rooms: contexts, Decision, Review."""
