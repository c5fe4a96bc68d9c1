"""The desk window: what a desk's owner sees of it, live, and what they may take away."""
