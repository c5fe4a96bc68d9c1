"""Settings that make no reviewer are refused with a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from evenhand.auditors import (
    AdversarialAuditor,
    DelayedAuditor,
    DistanceAuditor,
    DriftingAuditor,
    GroupAuditor,
    MahalanobisAuditor,
    NamedAuditor,
    NoisyAuditor,
    NormAuditor,
    OneBitAuditor,
    PanelAuditor,
    PartialAuditor,
    PureNoiseAuditor,
    RotatingAuditor,
    WobblingAuditor,
    WrappingAuditor,
)
from evenhand.errors import InvalidInput

I2 = np.eye(2)
EXACT = MahalanobisAuditor(I2)


@pytest.mark.parametrize(
    ("make", "arguments", "sentence"),
    [
        (MahalanobisAuditor, ("x",), r"A is 'x'; allowed is an \(r, d\) matrix of finite numbers"),
        (MahalanobisAuditor, ([[math.nan]],), "matrix of finite numbers"),
        (NormAuditor, (I2, 0.5), "p is 0.5; allowed is a number >= 1, or math.inf"),
        (NormAuditor, (I2, math.nan), "p is nan"),
        (NormAuditor, (I2, "inf"), "p is 'inf'"),
        (NormAuditor, ([1.0], 1), r"A has shape \(1,\)"),
        (WobblingAuditor, (I2, 1.5), "wobble is 1.5; allowed is a number from 0 to 1"),
        (RotatingAuditor, ([[1.0]], 0.1), r"A has shape \(1, 1\); allowed is an \(r, d\) matrix with d >= 2"),
        (RotatingAuditor, (I2, math.inf), "turns_per_round is inf; allowed is a finite number"),
        (DriftingAuditor, (I2, [[1.0]], 10), r"A_last has shape \(1, 1\); allowed is an \(r, 2\) matrix"),
        (DriftingAuditor, (I2, I2, 0), "rounds is 0; allowed is a whole number >= 1"),
        (lambda f: GroupAuditor(I2, I2, feature=f), (2,), "feature is 2; allowed are the features 0 to 1"),
        (lambda f: GroupAuditor(I2, I2, feature=f), (-1,), "feature is -1; allowed is a whole number >= 0"),
        (lambda A: GroupAuditor(I2, A, feature=0), ([[1.0]],), r"A_across has shape \(1, 1\)"),
        (lambda t: GroupAuditor(I2, I2, feature=0, threshold=t), (None,), "threshold is None"),
        (OneBitAuditor, ("Ada",), r"the auditor is 'Ada'; allowed is any object with review\(decision\)"),
        (OneBitAuditor, (MahalanobisAuditor,), "the auditor is <class"),
        (DelayedAuditor, (3, 1), "the auditor is 3"),
        (PartialAuditor, (EXACT, 0), "n is 0; allowed is a whole number >= 1"),
        (lambda c: PartialAuditor(EXACT, 1, choose=c), ([(0, 1)],), "allowed is a function of a decision"),
        (NoisyAuditor, (EXACT, -0.1), "error_rate is -0.1; allowed is a number from 0 to 1"),
        (NoisyAuditor, (EXACT, True), "error_rate is True"),
        (PureNoiseAuditor, ("often",), "rate is 'often'"),
        (lambda s: PureNoiseAuditor(0.1, seed=s), (-1,), "seed is -1"),
        (DelayedAuditor, (EXACT, 1.5), "delay is 1.5; allowed is a whole number >= 0"),
        (NamedAuditor, (EXACT, ""), "reviewer is ''; allowed is a string of at least one letter"),
        (PanelAuditor, ({},), "members is {}; allowed is a dict of one auditor or more, by name"),
        (PanelAuditor, ([EXACT],), "members is "),
        (PanelAuditor, ({1: EXACT},), "a member's name is 1"),
        (PanelAuditor, ({"a": None},), "the auditor is None"),
        (lambda n: PanelAuditor({"a": EXACT}, per_decision=n), (2,), "per_decision is 2; allowed are at most the 1"),
        (AdversarialAuditor, (EXACT, -1, "regret"), "budget is -1; allowed is a whole number >= 0"),
        (AdversarialAuditor, (EXACT, 1, "chaos"), "aim is 'chaos'; allowed are 'regret', 'unfairness', 'confusion'"),
    ],
)
def test_bad_settings_are_refused(make: Callable[..., Any], arguments: tuple[Any, ...], sentence: str) -> None:
    """Each with a sentence that quotes the value and says what is allowed."""
    with pytest.raises(InvalidInput, match=sentence):
        make(*arguments)


def test_a_reviewer_must_say_what_makes_it_one() -> None:
    """A subclass without distances, or without a change, cannot be made."""
    for kind in (DistanceAuditor, WrappingAuditor):
        with pytest.raises(TypeError, match="abstract"):
            type("Nothing", (kind,), {})()
