"""Contract suites to run with pytest on your own metric learner, reward model or ledger. Needs pytest."""
