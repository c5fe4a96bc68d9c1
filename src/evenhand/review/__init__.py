"""What people are asked: which pair next, what it shows, what became of the answer."""
