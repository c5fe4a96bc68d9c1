"""Off-policy estimators, checked by summing over everything that could have happened."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from evenhand._internal.arrays import Floats
from evenhand.errors import InvalidInput
from evenhand.history import PastLog, RoundTerms, effective_sample_size, inclusion_probabilities, terms_of
from evenhand.history.estimators import Method
from tests.support.simulated_log import NEW, chances, simulated_log

ROUNDS = [np.array([[0.1], [0.5], [-0.4], [0.9]]), np.array([[0.3], [-0.7], [0.2]])]
RNG = np.random.default_rng(5)
SCORES = [RNG.normal(size=len(table)) for table in ROUNDS]
OUTCOMES = [RNG.normal(size=len(table)) for table in ROUNDS]
PLAYED = np.array([0.2, 0.7, 0.9, 0.2, 0.5, 0.5, 1.0])


def _all_logs(capacity: int) -> list[tuple[float, PastLog, Floats]]:
    """Every log that two rounds can lead to, with its probability, and the chances."""
    b = [inclusion_probabilities(scores, capacity) for scores in SCORES]
    sets = []
    for scores in SCORES:
        odds = {who: float(np.exp(scores[list(who)].sum())) for who in combinations(range(len(scores)), capacity)}
        sets.append([(who, mass / sum(odds.values())) for who, mass in odds.items()])
    logs = []
    for (one, p), (two, q) in product(*sets):
        seen = [{i: OUTCOMES[t][i] for i in who} for t, who in enumerate((one, two))]
        logs.append((p * q, PastLog.of(ROUNDS, [one, two], seen, capacity=capacity), np.concatenate(b)))
    return logs


@pytest.mark.parametrize("capacity", [1, 2])
def test_ips_and_doubly_robust_are_unbiased(capacity: int) -> None:
    """Over everything that could have happened, their mean is the sum of p times outcomes, whatever the model says."""
    truth = PLAYED @ np.concatenate(OUTCOMES) / 2
    wrong = np.linspace(-3, 4, len(PLAYED))
    logs = _all_logs(capacity)
    assert sum(p for p, *_ in logs) == pytest.approx(1.0)
    models: list[tuple[Method, Floats | None]] = [("ips", None), ("dr", wrong), ("dr", np.zeros(len(PLAYED)))]
    for method, expected in models:
        means = [p * terms_of(method, log, PLAYED, b, expected).value for p, log, b in logs]
        mean = np.sum(means)
        assert mean == pytest.approx(truth, abs=1e-12)


def test_doubly_robust_with_the_truth_is_exact() -> None:
    """If the model is right it equals the truth in every log, and so does the direct method."""
    truth, q = PLAYED @ np.concatenate(OUTCOMES) / 2, np.concatenate(OUTCOMES)
    for _, log, b in _all_logs(2):
        assert terms_of("dr", log, PLAYED, b, q).value == pytest.approx(truth)
        assert terms_of("dm", log, PLAYED, expected=q).value == pytest.approx(truth)


def test_snips_shifts_with_outcomes() -> None:
    """A constant added to all outcomes adds it for each choice; IPS does not keep to that, since its weights vary."""
    log = simulated_log(50, 3, np.random.default_rng(0))
    p, b = chances(log.contexts, NEW, 3), log.probabilities
    shifted = PastLog.of(
        [r.contexts for r in log], [r.chosen for r in log], [{i: y + 10 for i, y in r.outcomes.items()} for r in log]
    )
    gain = {m: terms_of(m, shifted, p, b).value - terms_of(m, log, p, b).value for m in ("snips", "ips")}
    assert gain["snips"] == pytest.approx(10 * p.sum() / 50)
    assert abs(gain["ips"] - 10 * p.sum() / 50) > 0.1


def test_the_policy_of_the_past_is_worth_what_was_earned() -> None:
    """Played again, its weights are 1: IPS is the mean reward per round, SNIPS the mean outcome times the places."""
    log = simulated_log(60, 3, np.random.default_rng(1))
    b, seen = log.probabilities, log.outcomes[log.chosen]
    assert b is not None
    assert terms_of("ips", log, b, b).value == pytest.approx(seen.sum() / 60)
    assert terms_of("snips", log, b, b).value == pytest.approx(seen.mean() * 3)
    assert effective_sample_size(np.ones(7)) == 7.0


def test_what_varies_with_scores_cancels_out() -> None:
    """Terms that are linear in scores vary no more, others as much as before; the estimate stays what it is."""
    rng, ratios = np.random.default_rng(3), []
    for _ in range(200):
        scores, noise = rng.normal(size=(100, 5)), rng.normal(size=100)
        terms = RoundTerms(2.0 + scores @ np.arange(5.0), 1.0 + 0.1 * scores[:, 0], np.full(100, 3.0))
        rest = terms.beside(scores)
        assert rest.value == pytest.approx(terms.value)
        assert np.ptp(rest.sums) == pytest.approx(0.0, abs=1e-9)
        assert np.ptp(rest.weights) == pytest.approx(0.0, abs=1e-9)
        ratios.append(np.var(RoundTerms.plain(noise).beside(scores).sums) / np.var(noise))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.02)  # its standard deviation is 0.003
    few = RoundTerms.plain(noise[:49])
    assert few.beside(scores[:49]) is few


def test_what_is_missing_is_named() -> None:
    """A method without the chances or the model that it needs is refused."""
    log = simulated_log(3, 1, np.random.default_rng(1))
    with pytest.raises(InvalidInput, match="dr needs the expected outcomes"):
        terms_of("dr", log, np.zeros(30), np.ones(30))
    with pytest.raises(InvalidInput, match="ips needs the chances"):
        terms_of("ips", log, np.zeros(30))
    with pytest.raises(InvalidInput, match="method must be 'ips', 'snips', 'dm' or 'dr', got 'magic'"):
        terms_of("magic", log, np.zeros(30))  # type: ignore[arg-type]
