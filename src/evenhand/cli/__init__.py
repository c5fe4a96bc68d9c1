"""The command line. `main` has the list of commands."""
