"""What can be asked of the service, one file a subject; `table` has the list."""
