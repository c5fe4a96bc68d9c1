"""Find a Chromium for the tests; where there is none, install Debian's package if that is possible, else say how.

python -m tests.support.chromium        prints its path, or a sentence and exit status 1
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW = "install a Chromium (on Debian: apt-get install chromium), or name one in EVENHAND_CHROMIUM"
PATIENCE = 600


def find() -> str | None:
    """The path of a Chromium on this machine."""
    named = os.environ.get("EVENHAND_CHROMIUM")
    if named:
        return named if os.access(named, os.X_OK) else None
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def install() -> None:
    """Install Debian's package, where there is apt-get and one may."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return
    quietly = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "timeout": PATIENCE, "check": False}
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
        subprocess.run(["apt-get", *step], env=environment, **quietly)  # type: ignore[call-overload]


def main() -> int:
    """Find one or install one."""
    if find() is None:
        install()
    found = find()
    print(found if found is not None else f"the pages' tests need a browser: {HOW}")
    # Outside of continuous integration the other tests run without a browser; those of the pages are then skipped.
    return 0 if found is not None or not os.environ.get("CI") else 1


if __name__ == "__main__":
    sys.exit(main())
