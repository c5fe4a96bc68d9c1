"""Migrations of a ledger's database, run when it is opened."""
