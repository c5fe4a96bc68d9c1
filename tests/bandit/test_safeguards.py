"""The cap: never more flagged rounds than were allowed, if the reviewer is exact."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.auditors import (
    Auditor,
    DelayedAuditor,
    MahalanobisAuditor,
    NormAuditor,
    OneBitAuditor,
    PanelAuditor,
    PartialAuditor,
    PureNoiseAuditor,
    RotatingAuditor,
)
from evenhand.bandit.safeguards import Margin, Safeguards
from evenhand.environments import make_world
from evenhand.errors import InvalidInput
from evenhand.lab.play import decisions
from evenhand.metrics.features import MetricSpace, Structure
from evenhand.metrics.verdicts import Verdicts
from evenhand.testing.metric_worlds import random_contexts
from tests.support.simulation import same

WORLDS = ("sphere", "camps", "direction-hider", "regret-hunter", "violation-hunter")
METRICS = ("zero", "rank-one", "full")
CAPS = (0, 1, 5, 20)


class _Copied(eh.FairBandit):
    """The same bandit, of which adversaries make copies to see what it would really play: cap, margin and all."""

    def decide(self, contexts: Any, **bounds: Any) -> eh.Decision:
        return super().decide(contexts, **bounds)


def _flagged_rounds(
    bandit: eh.FairBandit,
    *,
    world: str,
    metric: str,
    rounds: int,
    k: int = 4,
    seed: int = 0,
    reviewer: Any = lambda exact: exact,
) -> tuple[set[int], list[eh.Decision]]:
    """The rounds whose decision the exact reviewer finds something in, reviewed or not, and all decisions."""
    made = make_world(world, n_features=bandit.n_features, n_candidates=k, metric=metric, seed=seed)
    exact = MahalanobisAuditor(made.A)
    auditor: Auditor = reviewer(exact)
    played = [decision for decision, _ in decisions(bandit, made, auditor, rounds=rounds, seed=seed + 1)]
    return {decision.round for decision in played if exact.review(decision).unfair}, played


def _gap(decision: eh.Decision) -> float:
    return float(np.ptp(decision.probabilities))


@pytest.mark.statistical
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("world", WORLDS)
def test_never_more_than_allowed(world: str, metric: str) -> None:
    """Whoever the candidates are, adversaries included, whatever the rank: at most N rounds are ever flagged.

    Counted by the truth, not by the bandit, whose own count is the same. Capacities take turns.
    """
    for row, cap in enumerate(CAPS):
        capacity = (1, 2, None)[(row + METRICS.index(metric)) % 3]
        bandit = eh.FairBandit(3, capacity=capacity, epsilon=0.02, max_unfair_rounds=cap, seed=row, reviewer_error=1e-3)
        flagged, _ = _flagged_rounds(bandit, world=world, metric=metric, rounds=60, seed=row)
        assert len(flagged) <= cap
        assert flagged == set(bandit.safeguards.flagged_rounds)
        assert bandit.safeguards.is_capped == (len(flagged) == cap)


@pytest.mark.parametrize("cap", CAPS)
def test_never_more_than_allowed_with_separate_features(cap: int) -> None:
    """The same with the diagonal structure, for a reviewer whose metric has it."""
    for world in ("sphere", "violation-hunter"):
        bandit = eh.FairBandit(
            3, structure="diagonal", epsilon=0.02, max_unfair_rounds=cap, seed=1, reviewer_error=1e-3
        )
        flagged, _ = _flagged_rounds(bandit, world=world, metric="diagonal", rounds=80)
        assert len(flagged) <= cap


@pytest.mark.statistical
def test_against_an_adversary_who_sees_the_cap() -> None:
    """One who knows what would really be played, and picks the candidates it hurts most, finds nothing more either."""
    for cap in (1, 4):
        bandit = _Copied(2, epsilon=0.02, max_unfair_rounds=cap, reviewer_error=1e-3, seed=1)
        flagged, played = _flagged_rounds(bandit, world="violation-hunter", metric="full", rounds=50)
        assert len(flagged) <= cap
        assert bandit.safeguards.is_capped
        assert cap == 1 or max(_gap(decision) for decision in played[-20:]) > 1e-3


METRIC_LEARNERS: dict[str, Any] = {
    "Ellipsoid": lambda: eh.metrics.Ellipsoid(3, epsilon=0.02),
    "ProjectedVolume": lambda: eh.metrics.ProjectedVolume(3, epsilon=0.02, seed=0),
    "PerPair": lambda: eh.metrics.PerPair(eh.metrics.Ellipsoid(3, epsilon=0.02)),
    "KnownMetric, and wrong": lambda: eh.metrics.KnownMetric(np.eye(3)),
    "BayesPoint with unknown errors": lambda: eh.metrics.BayesPoint(3, epsilon=0.02, error_rate=None),
}


@pytest.mark.parametrize("name", METRIC_LEARNERS)
def test_no_learner_is_needed_for_it(name: str) -> None:
    """The cap rests on proofs, not on the learner: it holds for each of them, and for one that is wrong for ever."""
    bandit = eh.FairBandit(3, metric=METRIC_LEARNERS[name](), max_unfair_rounds=4, seed=0)
    flagged, _ = _flagged_rounds(bandit, world="sphere", metric="full", rounds=60)
    assert len(flagged) <= 4


def test_a_limit_of_zero_means_equal_probabilities_for_ever() -> None:
    """With N = 0 every decision has equal probabilities, of any capacity, and nobody can be flagged."""
    for capacity in (1, 2, None):
        bandit = eh.FairBandit(3, capacity=capacity, max_unfair_rounds=0, seed=0, reviewer_error=1e-3)
        flagged, played = _flagged_rounds(bandit, world="camps", metric="zero", rounds=40)
        assert flagged == set()
        assert all(_gap(decision) <= 1e-9 for decision in played)


def test_what_is_proved_is_played() -> None:
    """After the cap probabilities still differ where earlier reviews prove it fair, and every pair is certified."""
    bandit = eh.FairBandit(3, epsilon=0.02, max_unfair_rounds=5, seed=0, reviewer_error=1e-3)
    _, played = _flagged_rounds(bandit, world="sphere", metric="full", rounds=80)
    assert bandit.safeguards.is_capped
    late = played[-20:]
    assert np.mean([_gap(decision) for decision in late]) > 0.05
    for decision in late[-5:]:
        assert bandit.certify(decision).count("proved") == 6


REVIEWERS: dict[str, Any] = {
    "one bit": OneBitAuditor,
    "two pairs": lambda exact: PartialAuditor(exact, 2, seed=3),
    "two of three": lambda exact: PanelAuditor({"a": exact, "b": exact, "c": exact}, per_decision=2, seed=3),
}


@pytest.mark.parametrize("name", REVIEWERS)
def test_other_ways_to_review(name: str) -> None:
    """One bit, a few pairs, several reviewers: what was flagged, in all, is at most N rounds."""
    for cap in (1, 5):
        bandit = eh.FairBandit(3, epsilon=0.02, max_unfair_rounds=cap, seed=0, reviewer_error=1e-3)
        _flagged_rounds(bandit, world="sphere", metric="full", rounds=80, reviewer=REVIEWERS[name])
        assert len(bandit.safeguards.flagged_rounds) <= cap


@pytest.mark.parametrize("delay", [1, 6])
def test_late_reviews_add_what_was_out(delay: int) -> None:
    """Decisions made before the last flag came in may be flagged too: at most as many as were under review."""
    for cap in (0, 1, 5):
        bandit = eh.FairBandit(3, epsilon=0.02, max_unfair_rounds=cap, seed=0, reviewer_error=1e-3)
        flagged, played = _flagged_rounds(
            bandit, world="sphere", metric="full", rounds=60, reviewer=lambda exact: DelayedAuditor(exact, delay)
        )
        assert len(flagged) <= cap + (delay if cap else 0)
        assert len(played) == 60


@pytest.mark.filterwarnings("ignore::evenhand.errors.InconsistentReviews")
def test_a_reviewer_who_contradicts_herself_leaves_equal_probabilities() -> None:
    """Evidence that contradicts itself proves nothing: then probabilities are equal, and nothing crashes."""
    metric = eh.metrics.KnownMetric(0.5 * np.eye(2))
    bandit = eh.FairBandit(2, metric=metric, target_unfair_share=0.01, max_unfair_rounds=2, seed=0)
    contexts = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]])
    wide = bandit.decide(contexts)
    bandit.learn(wide, review=eh.Review.complete())
    bandit.learn(bandit.decide(contexts), review=eh.Review.one_bit(any_unfair=True))
    narrow = bandit.decide(contexts)  # within the margin now
    pairs = [(i, j) for i in range(3) for j in range(i + 1, 3) if 1e-6 < narrow.gap(i, j) < wide.gap(i, j) - 1e-6]
    assert pairs
    assert _gap(bandit.decide(contexts)) > 1e-3
    bandit.learn(narrow, review=eh.Review.complete(unfair=pairs))
    assert bandit.safeguards.is_capped
    assert all(_gap(bandit.decide(contexts)) <= 1e-9 for _ in range(3))


# Saving.


def _live(bandit: eh.FairBandit, auditor: Auditor, rounds: int, seed: int) -> list[tuple[bytes, tuple[int, ...]]]:
    world = make_world("sphere", n_features=3, n_candidates=4, seed=0)
    history = []
    for decision, _ in decisions(bandit, world, auditor, rounds=rounds, seed=seed):
        history.append((decision.probabilities.tobytes(), decision.chosen))
    return history


@pytest.mark.parametrize("structure", ["full", "diagonal"])
@pytest.mark.parametrize("reviewer", ["all pairs", *REVIEWERS])
def test_saved_in_the_capped_state_it_goes_on(structure: Structure, reviewer: str, tmp_path: Path) -> None:
    """Saved and loaded when capped, or just before, it decides the same, to the bit."""
    kind = "full" if structure == "full" else "diagonal"
    exact = MahalanobisAuditor(make_world("sphere", n_features=3, n_candidates=4, metric=kind, seed=0).A)
    auditor: Auditor = exact if reviewer == "all pairs" else REVIEWERS[reviewer](exact)
    bandit = eh.FairBandit(
        3, structure=structure, epsilon=0.02, max_unfair_rounds=4, target_unfair_share=0.2, seed=1, reviewer_error=1e-3
    )
    states = []
    for part in range(3):
        bandit.save(tmp_path / "bandit.eh")
        loaded, same_auditor = eh.FairBandit.load(tmp_path / "bandit.eh"), copy.deepcopy(auditor)
        states.append(bandit.safeguards.is_capped)
        assert _live(bandit, auditor, 25, seed=part) == _live(loaded, same_auditor, 25, seed=part)
        assert same(bandit.state(), loaded.state())
    assert states[0] is False
    assert reviewer == "two pairs" or states[-1] is True


def test_reviews_in_parts_are_saved_in_parts() -> None:
    """A reviewer who says of a decision first this, then that, leaves the same evidence before a stop and after it."""
    world = make_world("sphere", n_features=3, n_candidates=8, seed=0)
    exact, rng = MahalanobisAuditor(world.A), np.random.default_rng(0)
    bandit = eh.FairBandit(3, epsilon=0.02, max_unfair_rounds=60, seed=0, reviewer_error=1e-3)
    contexts, _ = world.reset(seed=1)
    for _ in range(15):
        decision = bandit.decide(contexts)
        unfair = exact.review(decision).unfair
        pairs = [(i, j) for i in range(8) for j in range(i + 1, 8)]
        shuffled = [pairs[row] for row in rng.permutation(len(pairs))]
        for part in (shuffled[:14], shuffled[14:]):
            verdicts = [pair for pair in part if pair in unfair], [pair for pair in part if pair not in unfair]
            bandit.learn(decision, review=eh.Review.partial(*verdicts))
        contexts = world.step(decision.chosen)[0]
        loaded = eh.FairBandit.from_state(copy.deepcopy(bandit.state()))
        assert same(loaded.safeguards.log.evidence.state(), bandit.safeguards.log.evidence.state())


# Counting.


def _after(safeguards: Safeguards, decision: eh.Decision, review: eh.Review) -> Safeguards:
    metric = eh.metrics.BayesPoint(decision.contexts.shape[1])
    return safeguards.after_review(decision, review, Verdicts.of(decision, review), metric)


def test_a_round_counts_once_and_equal_probabilities_never() -> None:
    """Several flags on one round are one flagged round; a flag on equal probabilities, in whatever words, is none."""
    safeguards = Safeguards(MetricSpace(2), Margin(0.1), 2)
    bandit = eh.FairBandit(2, seed=0, reviewer_error=1e-3)
    apart, alike = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), np.array([[0.5, 0.5]] * 3)
    unequal, equal = bandit.decide(apart), bandit.decide(alike)
    assert unequal.gap(1, 2) == 0 < unequal.gap(0, 1)
    no_flags = [
        (equal, eh.Review.complete(unfair=[(0, 1)])),
        (equal, eh.Review.one_bit(any_unfair=True)),
        (unequal, eh.Review.complete(unfair=[(1, 2)])),
        (unequal, eh.Review.partial(unfair=[(1, 2)], fair=[(0, 1)])),
        (unequal, eh.Review.complete()),
        (unequal, eh.Review.one_bit(any_unfair=False)),
    ]
    for decision, review in no_flags:
        safeguards = _after(safeguards, decision, review)
        assert set(safeguards.flagged_rounds) == set()
    assert safeguards.margin.scale == 1
    for review in (eh.Review.one_bit(any_unfair=True), eh.Review.complete(unfair=[(0, 1)], reviewer="Ada")):
        safeguards = _after(safeguards, unequal, review)
        assert set(safeguards.flagged_rounds) == {unequal.round}
    assert safeguards.margin.scale == pytest.approx(1 - safeguards.margin.step)
    assert not safeguards.is_capped
    capped = _after(safeguards, bandit.decide(apart), eh.Review.partial(unfair=[(0, 2)]))
    assert len(capped.flagged_rounds) == 2
    assert capped.is_capped
    assert not safeguards.is_capped


def test_one_bit_that_something_was_unfair_is_no_evidence() -> None:
    """It proves nothing of any pair; that nothing was unfair proves something of all."""
    bandit = eh.FairBandit(2, seed=0, reviewer_error=1e-3)
    decision = bandit.decide([[1.0, 0.0], [0.0, 1.0]])
    for any_unfair in (True, False):
        safeguards = _after(Safeguards(MetricSpace(2), Margin(None)), decision, eh.Review.one_bit(any_unfair))
        assert (len(safeguards.log.evidence) > 0) == (not any_unfair)


@pytest.mark.parametrize("cap", [-1, 0.5, 3.0, True, "five", float("inf")])
def test_bad_caps_are_refused(cap: Any) -> None:
    """A cap is a whole number of rounds."""
    with pytest.raises(InvalidInput, match=r"max_unfair_rounds must be a whole number >= 0 or None, got "):
        eh.FairBandit(2, max_unfair_rounds=cap, reviewer_error=1e-3)


# At length.


@pytest.mark.slow
@pytest.mark.parametrize("capacity", [1, 2, None])
@pytest.mark.parametrize("world", WORLDS)
def test_never_more_than_allowed_at_length(world: str, capacity: int | None) -> None:
    """d = 4, k = 5, every rank, every cap, both structures: 200 rounds, or 60 with adversaries, who see the cap."""
    is_hunter = world.endswith("hunter")
    for seed, cap in enumerate(CAPS):
        for metric in ("zero", "rank-one", "low-rank", "full", "huge", "diagonal"):
            structure: Structure = "diagonal" if metric == "diagonal" else "full"
            bandit = (_Copied if is_hunter else eh.FairBandit)(
                4,
                capacity=capacity,
                structure=structure,
                epsilon=0.01,
                max_unfair_rounds=cap,
                seed=seed,
                reviewer_error=1e-3,
            )
            rounds = 60 if is_hunter else 200
            flagged, _ = _flagged_rounds(bandit, world=world, metric=metric, rounds=rounds, k=5, seed=seed)
            assert len(flagged) <= cap, (metric, cap)
            assert flagged == set(bandit.safeguards.flagged_rounds), (metric, cap)


@pytest.mark.parametrize(
    "auditor",
    [
        NormAuditor(np.diag([0.9, 0.5, 0.2]), math.inf),
        RotatingAuditor(np.diag([0.9, 0.5, 0.2]), 0.01),
        PureNoiseAuditor(0.3, seed=0),
    ],
    ids=["another norm", "rotating", "noise"],
)
@pytest.mark.parametrize("cap", [0, 3])
def test_whoever_flags_there_is_at_most_one_more(auditor: Auditor, cap: int) -> None:
    """Reviewers who follow no metric: a flag on what was proved is the last; probabilities are equal after it."""
    bandit, rng, flagged = (
        eh.FairBandit(3, epsilon=0.02, max_unfair_rounds=cap, seed=0, reviewer_error=1e-3),
        np.random.default_rng(0),
        0,
    )
    for _ in range(150):
        decision = bandit.decide(random_contexts(rng, 5, 3))
        review = auditor.review(decision)
        flagged += bool(review.unfair)
        bandit.learn(decision, rewards=dict.fromkeys(decision.chosen, 0.5), review=review)
    assert cap <= flagged <= cap + 1
    if flagged > cap:
        assert np.ptp(bandit.decide(random_contexts(rng, 5, 3)).probabilities) < 1e-9


def test_a_flagged_pair_is_not_likely_fair() -> None:
    """Whatever the learner believes of it after the flag; nor is the flag forgotten when the bandit is saved."""
    for seed in range(10):
        rng, bandit = np.random.default_rng(seed), eh.FairBandit(3, seed=seed, reviewer_error=1e-3)
        decision = bandit.decide(random_contexts(rng, 4, 3))
        pair = max(decision.tight_pairs, key=lambda tight: decision.gap(*tight))
        bandit.learn(decision, review=eh.Review.complete(unfair=[pair]))
        again = eh.FairBandit.from_state(bandit.state())
        for each in (bandit, again):
            found = next(known for known in each.certify(decision).pairs if known.pair == pair)
            assert found.status == "unproven"
            assert found.probability <= 0.5
