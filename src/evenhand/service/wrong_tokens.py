"""WrongTokens: how many tokens that open nothing one address may send.

A right token is never refused for it: whoever shares an address with somebody who tries - an office, a proxy - goes on
working. So this does not keep anybody from guessing; that is what the 256 random bits of a token are for. It keeps
what such requests cost within limits, and tells whoever sends them, by mistake or not, to stop.
"""

from __future__ import annotations

import ipaddress
from collections import OrderedDict

from evenhand.service.bucket import Bucket

MOST_ADDRESSES = 10_000
"""Of so many addresses, those that sent a wrong token last, it is known how many they sent."""


class WrongTokens:
    """Counts wrong tokens by address.

    >>> wrong = WrongTokens(per_minute=2)
    >>> [wrong.wait("192.0.2.7", now) for now in (10.0, 10.0, 10.0, 40.0)]
    [0.0, 0.0, 30.0, 0.0]
    """

    def __init__(self, per_minute: float) -> None:
        self._per_minute = per_minute
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def wait(self, address: str | None, now: float) -> float:
        """A wrong token came from an address: seconds until another one may; 0, and counted, if this one may."""
        key = _network(address)
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = Bucket(self._per_minute / 60.0, max(1.0, self._per_minute))
            if len(self._buckets) > MOST_ADDRESSES:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(key)
        return bucket.wait(now)


def _network(address: str | None) -> str:
    """Whose address it is: of IPv6 the first half, since whoever has one has as many as they like of that.

    >>> _network("2001:db8:1:2:3:4:5:6"), _network("192.0.2.7"), _network("::ffff:192.0.2.7"), _network(None)
    ('2001:db8:1:2::', '192.0.2.7', '192.0.2.7', '')
    """
    try:
        found = ipaddress.ip_address(address or "")
    except ValueError:  # a socket of this machine, which has none
        return address or ""
    if found.version == 4:
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(found) >> 64 << 64))
