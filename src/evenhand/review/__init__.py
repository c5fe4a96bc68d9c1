"""What people are asked: the next pair or question, how it is displayed, and what becomes of the answer."""
