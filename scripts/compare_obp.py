"""Compare our estimators with the Open Bandit Pipeline's own code, to 1e-9.

python -m scripts.compare_obp

obp 0.5.7 asks for Python below 3.11 and for versions of 2022, so it cannot be a dependency. Its estimators run on
current versions nevertheless, from a folder of their own beside evenhand[dev]:

    pip install --no-deps --ignore-requires-python --target obp obp==0.5.7 seaborn tqdm pyyaml typing_extensions
    PYTHONPATH=obp python -m scripts.compare_obp

obp imports torch for its neural policies, which are not compared. Where torch is missing, empty classes stand in.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = ("tests/history/test_obp.py", "tests/adapters/test_obp.py")
ANY_CLASS = """
class Anything(type):
    def __getattr__(cls, name):
        return found(name)

def found(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything(name, (), {})

__getattr__ = found
"""
STAND_INS = ("torch/__init__.py", "torch/optim.py", "torch/nn/__init__.py", "torch/nn/functional.py")


def main() -> int:
    """Run the tests against obp, or say that it is missing."""
    if importlib.util.find_spec("obp") is None:
        print(__doc__)
        return 1
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", *TESTS]
    with tempfile.TemporaryDirectory() as folder:
        paths = [*filter(None, [os.environ.get("PYTHONPATH")])]
        if importlib.util.find_spec("torch") is None:
            for name in STAND_INS:
                file = Path(folder, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(ANY_CLASS)
            paths.append(folder)
        return subprocess.run(command, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}).returncode


if __name__ == "__main__":
    sys.exit(main())
