"""Compare our estimators with the Open Bandit Pipeline's own code, to 1e-9.

python -m scripts.compare_obp

obp 0.5.7 asks for Python below 3.11 and for versions of 2022, so it cannot be a dependency. Its estimators run on
current versions nevertheless, from a folder of their own beside evenhand[dev]:

    pip install --no-deps --ignore-requires-python --target obp obp==0.5.7 torch seaborn tqdm pyyaml typing_extensions
    PYTHONPATH=obp python -m scripts.compare_obp
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys


def main() -> int:
    """Run the tests against obp, or say that it is missing."""
    if importlib.util.find_spec("obp") is None:
        print(__doc__)
        return 1
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        "tests/history/test_obp.py",
        "tests/adapters/test_obp.py",
    ]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
