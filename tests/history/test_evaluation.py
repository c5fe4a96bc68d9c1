"""Evaluation: estimates with intervals where the log allows them, and a refusal where it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand._internal.arrays import Floats
from evenhand.baselines import IntervalChaining, ignore_fairness
from evenhand.errors import InvalidInput
from evenhand.history import (
    PastLog,
    RoundTerms,
    bernstein_interval,
    bootstrap_interval,
    default_policies,
    equal_probabilities,
    evaluate,
    expected_outcomes,
    frozen,
    inclusion_probabilities,
)
from tests.support.simulated_log import CANDIDATES, NEW, simulated_log, true_value

LOG = simulated_log(300, 3, np.random.default_rng(4))


def new_policy(contexts: Floats, capacity: int) -> Floats:
    """Looks at other features than the past did."""
    return inclusion_probabilities(contexts @ NEW, capacity)


def test_estimates_bracket_the_truth() -> None:
    """On a log of 300 rounds every estimate is within four standard errors, and Bernstein's interval is the widest."""
    truth = true_value(3, np.random.default_rng(0), rounds=50_000)
    result = evaluate(LOG, {"new": new_policy})["new"]
    assert result.refusal is None
    for method in ("ips", "snips", "dr"):
        estimate = result.estimates[method]
        assert estimate.bootstrap is not None
        low, high = estimate.bootstrap
        assert low < estimate.value < high
        assert abs(estimate.value - truth) < high - low
    dr = result.estimates["dr"]
    assert dr.bernstein is not None
    assert dr.bootstrap is not None
    assert dr.bernstein[0] < dr.bootstrap[0] < dr.bootstrap[1] < dr.bernstein[1]
    assert result.estimates["dm"].bootstrap is None
    assert result.choices == pytest.approx(3.0)
    assert 100 < result.effective < 900


def test_the_past_against_itself_gains_nothing() -> None:
    """The chances of the past as a policy: all weights are 1, and what it earns more than as decided is about 0."""
    at = iter(range(10**9))
    assert LOG.probabilities is not None
    p = LOG.probabilities
    result = evaluate(LOG, {"old": lambda x, c: p[next(at) * CANDIDATES :][: len(x)]})
    old = result["old"]
    assert old.largest_weight == pytest.approx(1.0)
    assert old.effective == pytest.approx(900)
    assert old.estimates["ips"].value == pytest.approx(result.decided.value)
    assert old.gain is not None
    assert abs(old.gain.value) < 0.1
    assert "dr" in str(result.to_rows())
    assert "as decided" in str(result)


def test_missing_overlap_is_refused_with_bounds() -> None:
    """A policy that chooses people who had no chance is not estimated; bounds for whatever they earn hold the truth."""
    assert LOG.probabilities is not None
    kept = LOG.contexts[:, 3] > -0.6
    b = np.where(kept, LOG.probabilities, 0.0)
    chosen = LOG.chosen & kept
    log = replace(LOG, chosen=chosen, probabilities=b, outcomes=np.where(chosen, LOG.outcomes, np.nan))
    result = evaluate(log, {"new": new_policy, "kind": lambda x, c: np.where(x[:, 3] > -0.6, 0.1, 0.0)})
    refused = result["new"]
    assert refused.estimates == {}
    assert refused.gain is None
    assert "of its choices go to" in str(refused.refusal)
    assert refused.bounds is not None
    low, high = refused.bounds
    assert low < true_value(3, np.random.default_rng(0), rounds=50_000) < high
    assert high - low > refused.unsupported * refused.choices  # outcomes from 0 to 1
    assert result["kind"].refusal is None
    assert "not estimated" in str(result)


def test_everybody_was_chosen() -> None:
    """Where everybody was chosen all chances are 1, and policies with fewer places earn what is known of their own."""
    rng = np.random.default_rng(2)
    outcomes = rng.random(LOG.n_candidates)
    log = replace(
        LOG,
        chosen=np.ones(LOG.n_candidates, dtype=np.bool_),
        outcomes=outcomes,
        probabilities=None,
        capacities=np.full(len(LOG), 2),
    )
    result = evaluate(log, {"new": new_policy})
    earned = float(result["new"].played @ outcomes) / len(log)
    for method in ("ips", "dr"):
        assert result["new"].estimates[method].value == pytest.approx(earned)
    assert result["new"].choices == pytest.approx(2.0)
    assert result.statements == ("Everybody was chosen, so the outcomes of all candidates are known.",)


def test_people_who_applied_again_are_counted() -> None:
    """Two people who were in several rounds are mentioned beside the intervals, which take rounds as independent."""
    people = [f"p{row}" for row in range(LOG.n_candidates)]
    people[CANDIDATES], people[2 * CANDIDATES], people[-1] = people[0], people[0], people[1]
    said = evaluate(replace(LOG, people=tuple(people)), {"new": new_policy}, resamples=100).statements
    assert said[-1].startswith("2 people were in several rounds. Intervals take rounds as independent")
    assert not any("several rounds" in text for text in evaluate(LOG, {"new": new_policy}, resamples=100).statements)


def test_a_policy_may_be_a_table() -> None:
    """What another system would have done, by candidates' ids, counts as the same probabilities of a function do."""
    played = eh.history.played_by(new_policy, LOG)
    table = dict(zip(LOG.ids, played.tolist(), strict=True))
    recent = LOG.split(0.3)[1]
    results = [evaluate(recent, {"new": policy}, resamples=100)["new"] for policy in (table, new_policy)]
    assert results[0].estimates == results[1].estimates
    with pytest.raises(
        InvalidInput, match="must have a probability for every candidate of the log, got none for '0/0'"
    ):
        evaluate(LOG, {"new": {name: p for name, p in table.items() if name != "0/0"}})
    with pytest.raises(InvalidInput, match="must give 10 probabilities from 0 to 1 in round 0"):
        evaluate(LOG, {"new": table | {"0/3": 1.5}})


def test_too_small_an_effective_sample_is_refused() -> None:
    """A policy that past decisions hardly ever followed leaves few outcomes in effect, and is not estimated."""
    log = simulated_log(60, 1, np.random.default_rng(0))

    def contrary(contexts: Floats, capacity: int) -> Floats:
        return inclusion_probabilities(contexts @ np.array([-9.0, 5.0, 0.0, -5.0]), capacity)

    result = evaluate(log, {"contrary": contrary})["contrary"]
    assert result.refusal is not None
    assert "outcomes remain in effect, fewer than 30" in result.refusal


def test_policies_are_frozen() -> None:
    """A bandit plays with each round's capacity; it learns nothing, counts nothing, and is what it was before."""
    bandit = eh.FairBandit(4, capacity=1, seed=0, target_unfair_share=0.1)
    LOG.split()[0].warm_up(bandit)
    before = repr(bandit.state())
    played = evaluate(LOG, {"bandit": bandit, "chaining": IntervalChaining(4, seed=0)})
    assert repr(bandit.state()) == before
    assert played["bandit"].choices > 2.0
    again = frozen(bandit)
    one, two = again(LOG.contexts[:10], 3), again(LOG.contexts[:10], 3)
    np.testing.assert_array_equal(one, two)


def test_outcomes_that_are_not_known_yet() -> None:
    """Rounds with an unknown outcome of somebody chosen are left out and counted; with too few others, an error."""
    late = np.where(np.arange(LOG.n_candidates) >= 2900, np.nan, LOG.outcomes)
    result = evaluate(replace(LOG, outcomes=late), {"new": new_policy})
    assert (result.left_out, len(result.log)) == (10, 290)
    expected = evaluate(LOG.take(range(290)), {"equal": equal_probabilities()})
    assert result.decided == expected.decided
    unknown = replace(LOG, outcomes=np.full(3000, np.nan))
    with pytest.raises(InvalidInput, match="at least 10 rounds with all outcomes of the chosen known, got 0 of 300"):
        evaluate(unknown, {"new": new_policy}, expected=expected_outcomes(LOG))


def test_what_was_earned_lies_where_it_can() -> None:
    """With outcomes of 0 and 1 and few rounds, Bernstein's interval of what was earned ends at 0 and at all places."""
    few, log = PastLog.of([[[1.0], [0.5]]] * 12, [[0]] * 12, [{0: float(n % 2)} for n in range(12)], capacity=1), LOG
    policies = {"equal": equal_probabilities()}
    decided = evaluate(few, policies, least_effective=0.0).decided
    assert decided.bernstein == (0.0, 1.0)
    wide, observed = evaluate(log, {"new": new_policy}).decided.bernstein, LOG.outcomes[LOG.is_observed]
    assert wide is not None
    assert min(0.0, 3 * observed.min()) <= wide[0] < wide[1] <= 3 * observed.max()


def test_default_policies_learn_from_the_past_alone() -> None:
    """evenhand at several settings, and without fairness: all know the outcomes of the first rounds."""
    past, recent = LOG.split()
    policies = default_policies(past)
    assert [bandit.reward.n_outcomes for bandit in policies.values()] == [450] * 4
    result = evaluate(
        recent, {**policies, "equal": equal_probabilities()}, metric=policies["evenhand, the Euclidean distance"]
    )
    assert result.metric == "the metric of 'evenhand, the Euclidean distance'"
    shares = {r.name: r.pairs.share for r in result.results if r.pairs is not None}
    assert shares["equal"] == shares["evenhand, half the Euclidean distance"] == 0.0
    assert shares["ignore fairness"] > 0.02


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (lambda x, c: np.ones(3), "must give 10 probabilities from 0 to 1 in round 0"),
        (lambda x, c: np.full(len(x), 0.5), "must add up to at most the capacity 3 in round 0, got 5"),
        (lambda x, c: np.full(len(x), np.nan), "must give 10 probabilities from 0 to 1"),
        (7, "a policy must be a bandit, a baseline, or a function"),
        (ignore_fairness(3), "contexts must have 3 features, got 4"),
    ],
)
def test_wrong_policies_are_refused(policy: Any, message: str) -> None:
    """Probabilities that are none, or exceed the capacity, are named with their round."""
    with pytest.raises(InvalidInput, match=message):
        evaluate(LOG, {"p": policy})


def test_an_interval_does_not_depend_on_the_units() -> None:
    """Ten times the outcomes, ten times the interval; the same seed, the same interval."""
    rng = np.random.default_rng(0)
    terms = RoundTerms(rng.exponential(size=80), rng.exponential(size=80) + 1, rng.random(80) + 1)
    low, high = bootstrap_interval(terms, seed=3)
    tens = RoundTerms(10 * terms.sums, terms.weights, terms.sizes)
    np.testing.assert_allclose(bootstrap_interval(tens, seed=3), (10 * low, 10 * high))
    assert low < terms.value < high


def test_the_interval_of_a_constant_is_a_point() -> None:
    """Where nothing varies there is nothing to be unsure of; Bernstein's interval still has a width."""
    assert bootstrap_interval(RoundTerms.plain(np.full(20, 0.3))) == pytest.approx((0.3, 0.3))
    low, high = bernstein_interval(np.full(20, 0.3), 1.0)
    assert low < 0.0 < 0.3 < high


def test_the_log_checks_what_it_is_made_of() -> None:
    """Outcomes of people who were not chosen, indices beyond the round, and rounds that do not match are refused."""
    table = [[[0.1], [0.2]]]
    for arguments, message in (
        ((table, [[0]], [{1: 1.0}]), "outcomes must be of chosen candidates, got one of 1"),
        ((table, [[2]], [{}]), "chosen must be indices of the 2 candidates"),
        ((table, [[0], [1]], [{}]), "the same number of rounds"),
        (([], [], []), "number of rounds >= 1"),
        ((table, [[0]], [{0: np.inf}]), "the outcome of candidate 0 of round 0 must be a finite number"),
    ):
        with pytest.raises(InvalidInput, match=message):
            PastLog.of(*arguments)
    with pytest.raises(InvalidInput, match="both parts must have at least 1 round"):
        PastLog.of(table, [[0]], [{0: 1.0}]).split(0.5)
