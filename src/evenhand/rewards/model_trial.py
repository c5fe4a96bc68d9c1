"""A trial of a model that was uploaded, in a process of its own: whatever it does there, the service goes on.

The child loads the file, predicts for `CANDIDATES` people and fits it once to as many outcomes as it will remember.
Its time and its memory are limited. Nothing is stored before it has said that all went well.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np

from evenhand.errors import EvenhandError, InvalidInput

SECONDS = 90.0
"""How long a trial may take, starting Python and loading scikit-learn included."""

MEMORY = 2**32
"""The address space of the child, in bytes; libraries alone map about one gigabyte."""

CANDIDATES = 50

PREDICTING_SECONDS = 1.0
"""The processor time that the model may take for CANDIDATES people."""

FITTING_SECONDS = 20.0
"""The processor time of one fit to all outcomes that it remembers; a refit is a few of them."""


ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""As a model is fitted later; buffers of many threads would count as memory."""

_turn = threading.Lock()
"""One trial at a time."""


def check_in_child(record: dict[str, Any], n_features: int, seconds: float = SECONDS) -> None:
    """InvalidInput unless a Predictor of this recipe passes its trial."""
    request = json.dumps({"record": record, "n_features": n_features}).encode()
    command = [sys.executable, "-m", "evenhand.rewards.model_trial"]
    try:
        with _turn:
            done = subprocess.run(
                command, input=request, capture_output=True, timeout=seconds, env=os.environ | ONE_THREAD, check=False
            )
    except subprocess.TimeoutExpired:
        raise InvalidInput(f"the model must be loaded, predict and be fitted within {seconds:g} s, got more") from None
    try:
        result = json.loads(done.stdout)
    except ValueError:
        raise InvalidInput(
            f"the model must be loaded within {MEMORY // 2**30} GB and without a crash; its trial ended with status "
            f"{done.returncode}"
        ) from None
    if result["problem"] is not None:
        raise InvalidInput(result["problem"])
    for what, most in (("predicting", PREDICTING_SECONDS), ("fitting", FITTING_SECONDS)):
        if result[what] > most:
            doing = f"predict for {CANDIDATES} candidates" if what == "predicting" else "be fitted to what it remembers"
            raise InvalidInput(f"the model must {doing} within {most:g} s, got {result[what]:.1f} s")


def trial(record: dict[str, Any], n_features: int) -> dict[str, float]:
    """Load, predict and fit; the seconds that the two last take."""
    import time

    from evenhand.rewards._estimators import fitted
    from evenhand.rewards.estimator_files import from_text
    from evenhand.rewards.predictor import Predictor

    options = {name: value for name, value in record.items() if name not in ("kind", "model")}
    model = Predictor(from_text(record["model"]), n_features, **options)
    rng = np.random.default_rng(0)
    contexts = rng.normal(size=(max(model.memory, CANDIDATES), n_features))
    contexts /= np.maximum(np.linalg.norm(contexts, axis=1), 1.0)[:, None]
    classes = model.classes or (-1.0, 1.0)
    rewards = np.asarray(classes)[rng.integers(len(classes), size=len(contexts))]
    start = time.process_time()
    model.optimistic(contexts[:CANDIDATES])
    predicted = time.process_time()
    if model.refit_every is not None:
        fitted(model.model_bytes, model.way, contexts[: model.memory], rewards[: model.memory], model.classes)
    return {"predicting": predicted - start, "fitting": time.process_time() - predicted}


def main() -> None:
    """Read a request, limit what this process may use, and write what the trial found."""
    request = json.loads(sys.stdin.buffer.read())
    _limit_memory()
    try:
        found: dict[str, Any] = {"problem": None, **trial(request["record"], request["n_features"])}
    except EvenhandError as error:
        found = {"problem": str(error)}
    except Exception as error:  # whatever scikit-learn raises for a model that it cannot use
        found = {"problem": f"the model cannot be used: {type(error).__name__}: {error}"[:500]}
    sys.stdout.write(json.dumps(found))


def _limit_memory() -> None:
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limit
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


if __name__ == "__main__":
    main()
