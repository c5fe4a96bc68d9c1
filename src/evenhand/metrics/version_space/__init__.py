"""Sets of metrics that agree with every verdict, and how to sample them."""
