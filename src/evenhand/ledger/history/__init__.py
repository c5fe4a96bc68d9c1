"""History that cannot be rewritten unnoticed: kept heads, actors, and verifying with both."""
