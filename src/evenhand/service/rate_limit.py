"""Token buckets: requests per second of one token, and wrong tokens per minute of one address."""

from __future__ import annotations

import ipaddress
from collections import OrderedDict

MAX_ADDRESSES = 10_000
"""Addresses whose wrong tokens are counted; the one that was quiet longest is dropped."""


class Bucket:
    """A token bucket: a rate per second, and a burst after a pause.

    >>> bucket = Bucket(rate=2.0, burst=1.0)
    >>> bucket.wait(10.0), bucket.wait(10.0), bucket.wait(10.5)
    (0.0, 0.5, 0.0)
    """

    __slots__ = ("at", "burst", "left", "rate")

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst, self.left, self.at = rate, burst, burst, 0.0

    def wait(self, now: float) -> float:
        """Seconds until a request is allowed; 0, and counted, if it is allowed now."""
        left = min(self.burst, self.left + (now - self.at) * self.rate) if self.at else self.burst
        self.at = now
        self.left = left - 1 if left >= 1 else left
        return 0.0 if left >= 1 else (1 - left) / self.rate


class WrongTokens:
    """Counts wrong tokens by address.

    A valid token is never refused for it, so people who share an address with an attacker keep working. Tokens have
    256 random bits and cannot be guessed; this limits what such requests cost.

    >>> wrong = WrongTokens(per_minute=2)
    >>> [wrong.wait("192.0.2.7", now) for now in (10.0, 10.0, 10.0, 40.0)]
    [0.0, 0.0, 30.0, 0.0]
    """

    def __init__(self, per_minute: float) -> None:
        self._per_minute = per_minute
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def wait(self, address: str | None, now: float) -> float:
        """Count a wrong token: seconds until the address may send another; 0 if this one was allowed."""
        key = _network(address)
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = Bucket(self._per_minute / 60.0, max(1.0, self._per_minute))
            if len(self._buckets) > MAX_ADDRESSES:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(key)
        return bucket.wait(now)


def _network(address: str | None) -> str:
    """Whose address it is: of IPv6 the first half, since its owner has all addresses of the network.

    >>> _network("2001:db8:1:2:3:4:5:6"), _network("192.0.2.7"), _network("::ffff:192.0.2.7"), _network(None)
    ('2001:db8:1:2::', '192.0.2.7', '192.0.2.7', '')
    """
    try:
        found = ipaddress.ip_address(address or "")
    except ValueError:  # a socket of this machine has no address
        return address or ""
    if found.version == 4:
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(found) >> 64 << 64))
