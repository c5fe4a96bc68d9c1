"""Past decisions made elsewhere: read, checked and learned from."""
