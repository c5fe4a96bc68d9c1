"""What runs beside requests, in a process of its own."""
