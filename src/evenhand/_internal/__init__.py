"""Parts that every room uses and no user imports."""
