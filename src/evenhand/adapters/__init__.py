"""Adapters to other libraries, a module each: import the one you need; it names the extra that it misses."""
