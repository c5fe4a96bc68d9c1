"""For all tests: no property has a deadline, since a busy machine may take its time over any example."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("evenhand", deadline=None)
settings.load_profile("evenhand")
