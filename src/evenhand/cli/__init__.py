"""The command line; `main` has all commands."""
