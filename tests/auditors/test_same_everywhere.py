"""The same seeds make the same reviewers, in this process and in another."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.auditors import (
    AdversarialAuditor,
    Auditor,
    DelayedAuditor,
    MahalanobisAuditor,
    NoisyAuditor,
    PanelAuditor,
    PartialAuditor,
    PureNoiseAuditor,
    SoftAuditor,
    WobblingAuditor,
    arriving,
)
from tests.support.made_auditors import some

ROOT = Path(__file__).parents[2]
ASK = "import json; from tests.auditors.test_same_everywhere import reviews; print(json.dumps(reviews()))"


def reviews() -> list[Any]:
    """All that a panel of every kind of random reviewer says in 40 rounds, as plain lists."""
    A = 0.3 * np.eye(3)
    members: dict[str, Auditor] = {
        "wobbling": WobblingAuditor(A, 0.3, seed=1),
        "noisy": NoisyAuditor(MahalanobisAuditor(A), 0.2, seed=2),
        "few": PartialAuditor(MahalanobisAuditor(A), 3, seed=3),
        "noise": PureNoiseAuditor(0.3, seed=4),
        "soft": SoftAuditor(MahalanobisAuditor(A), 0.1, seed=8),
        "liar": AdversarialAuditor(MahalanobisAuditor(A), 5, "confusion", seed=5),
    }
    panel = PanelAuditor(members, per_decision=2, seed=6)
    late = DelayedAuditor(panel, 3, at_random=True, seed=7)
    return [[seen.round, review.to_dict()] for decision in some(40) for seen, review in arriving(late, decision)]


@pytest.mark.process
def test_reviewers_say_the_same_in_another_process() -> None:
    """Every review equal, in the same order, with another hash seed too."""
    there = subprocess.run(
        [sys.executable, "-c", ASK],
        cwd=ROOT,
        env={"PYTHONHASHSEED": "12", "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        capture_output=True,
        text=True,
        check=True,
    )
    here = reviews()
    assert len({review["reviewer"] for _, review in here}) == 6
    assert json.loads(there.stdout) == json.loads(json.dumps(here))
