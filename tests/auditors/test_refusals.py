"""Invalid settings of auditors are refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from evenhand import FairBandit
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
    SoftAuditor,
    WobblingAuditor,
    WrappingAuditor,
)
from evenhand.errors import InvalidInput

I2 = np.eye(2)
EXACT = MahalanobisAuditor(I2)


@pytest.mark.parametrize(
    ("make", "arguments", "sentence"),
    [
        (MahalanobisAuditor, ("x",), r"A must be a matrix of finite numbers of shape \(r, d\), got 'x'"),
        (MahalanobisAuditor, ([[math.nan]],), "matrix of finite numbers"),
        (NormAuditor, (I2, 0.5), "p must be a number >= 1 or math.inf, got 0.5"),
        (NormAuditor, (I2, math.nan), "got nan"),
        (NormAuditor, (I2, "inf"), "got 'inf'"),
        (NormAuditor, ([1.0], 1), r"A must be .* got shape \(1,\)"),
        (WobblingAuditor, (I2, 1.5), "wobble must be a number from 0 to 1, got 1.5"),
        (RotatingAuditor, ([[1.0]], 0.1), r"A must have at least 2 columns to rotate, got shape \(1, 1\)"),
        (RotatingAuditor, (I2, math.inf), "turns_per_round must be a finite number, got inf"),
        (DriftingAuditor, (I2, [[1.0]], 10), r"A_last must be .* shape \(r, 2\), got shape \(1, 1\)"),
        (DriftingAuditor, (I2, I2, 0), "rounds must be a whole number >= 1, got 0"),
        (lambda f: GroupAuditor(I2, I2, feature=f), (2,), "feature must be a whole number from 0 to 1, got 2"),
        (lambda f: GroupAuditor(I2, I2, feature=f), (-1,), "feature must be a whole number from 0 to 1, got -1"),
        (lambda A: GroupAuditor(I2, A, feature=0), ([[1.0]],), r"A_across must be .* got shape \(1, 1\)"),
        (lambda t: GroupAuditor(I2, I2, feature=0, threshold=t), (None,), "threshold must be .* got None"),
        (OneBitAuditor, ("Ada",), r"the auditor must be an object with review\(decision\), got 'Ada'"),
        (OneBitAuditor, (MahalanobisAuditor,), "the auditor must be .* got <class"),
        (DelayedAuditor, (3, 1), "the auditor must be .* got 3"),
        (PartialAuditor, (EXACT, 0), "n must be a whole number >= 1, got 0"),
        (lambda c: PartialAuditor(EXACT, 1, choose=c), ([(0, 1)],), "choose must be a function of a decision"),
        (NoisyAuditor, (EXACT, -0.1), "error_rate must be a number from 0 to 1, got -0.1"),
        (NoisyAuditor, (EXACT, True), "error_rate must be .* got True"),
        (SoftAuditor, (EXACT, -0.1), "softness must be a number >= 0, got -0.1"),
        (PureNoiseAuditor, ("often",), "rate must be .* got 'often'"),
        (lambda s: PureNoiseAuditor(0.1, seed=s), (-1,), "seed must be .* got -1"),
        (DelayedAuditor, (EXACT, 1.5), "delay must be a whole number >= 0, got 1.5"),
        (NamedAuditor, (EXACT, ""), "reviewer must be a string of at least one character, got ''"),
        (PanelAuditor, ({},), "members must be a dict of one auditor or more, by name, got {}"),
        (PanelAuditor, ([EXACT],), "members must be "),
        (PanelAuditor, ({1: EXACT},), "a member's name must be .* got 1"),
        (PanelAuditor, ({"a": None},), "the auditor must be .* got None"),
        (lambda n: PanelAuditor({"a": EXACT}, per_decision=n), (2,), "at most the 1 members, got 2"),
        (AdversarialAuditor, (EXACT, -1, "regret"), "budget must be a whole number >= 0, got -1"),
        (AdversarialAuditor, (EXACT, 1, "chaos"), "aim must be 'regret', 'unfairness' or 'confusion', got 'chaos'"),
    ],
)
def test_bad_settings_are_refused(make: Callable[..., Any], arguments: tuple[Any, ...], sentence: str) -> None:
    """The message names the setting, the limit and the value."""
    with pytest.raises(InvalidInput, match=sentence):
        make(*arguments)


def test_a_reviewer_must_say_what_makes_it_one() -> None:
    """A subclass without distances, or without a change, cannot be made."""
    for kind in (DistanceAuditor, WrappingAuditor):
        with pytest.raises(TypeError, match="abstract"):
            type("Nothing", (kind,), {})()


def test_contexts_of_another_length_are_refused() -> None:
    """The sentence has both numbers; numpy's would be about a matrix product."""
    decision = FairBandit(3, seed=0).decide(np.eye(3))
    with pytest.raises(InvalidInput, match="A must have a column for each of 3 features, got 2"):
        EXACT.review(decision)
