"""Bucket: so much a second, and more at once after a pause."""

from __future__ import annotations


class Bucket:
    """So many requests a second, and a burst after a pause.

    >>> bucket = Bucket(rate=2.0, burst=1.0)
    >>> bucket.wait(10.0), bucket.wait(10.0), bucket.wait(10.5)
    (0.0, 0.5, 0.0)
    """

    __slots__ = ("at", "burst", "left", "rate")

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst, self.left, self.at = rate, burst, burst, 0.0

    def wait(self, now: float) -> float:
        """Seconds until a request is allowed; 0 and counted if it is allowed now."""
        left = min(self.burst, self.left + (now - self.at) * self.rate) if self.at else self.burst
        self.at = now
        self.left = left - 1 if left >= 1 else left
        return 0.0 if left >= 1 else (1 - left) / self.rate
