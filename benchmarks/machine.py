"""Where and with what something was measured: the machine, the versions of all packages, the commit."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def surroundings() -> dict[str, Any]:
    """Machine, versions and commit, for JSON."""
    return {"machine": machine(), "versions": versions(), "commit": commit()}


def machine() -> dict[str, Any]:
    """Cores, processor, Python, system, and how busy the machine was in the last minute."""
    return {
        "cores": os.cpu_count(),
        "cpu": cpu_name(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def cpu_name() -> str:
    """What the processor calls itself, as far as the system knows."""
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        for line in listed.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """Every installed package, by name."""
    found = {package.name: package.version for package in importlib.metadata.distributions()}
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def commit() -> str | None:
    """The commit of the work tree, with a mark if it was changed since; None outside of one."""
    try:
        head = _git("rev-parse", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{head} with changes" if changed else head


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=HERE, capture_output=True, text=True, check=True)
    return done.stdout.strip()
