"""What an interview proves: its answers are evidence, and a cap of zero can be lived with from the first day."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.auditors import MahalanobisAuditor
from evenhand.certificates import ANSWER, check
from evenhand.environments import LinearEnvironment
from evenhand.errors import InvalidCertificate
from evenhand.lab import play
from tests.support.interviewed import exact, interviewed, live, people, standard
from tests.support.simulation import standard_world


def _interviewed(d: int, seed: int, questions: int, **settings: Any) -> eh.Interview:
    """An interview of an exact reviewer, held."""
    _, A = standard_world(d, seed=seed)
    candidates = people(300, d, seed)
    bandit = eh.FairBandit(d, epsilon=0.02, seed=seed, **settings)
    interview = eh.Interview(bandit, candidates, seed=seed, enough=0.0, max_questions=questions)
    interviewed(interview, exact(candidates, A))
    return interview


def test_answers_prove_pairs_before_the_first_review() -> None:
    """After 40 questions at d = 3 most pairs of a first decision are proved, by answers that can be looked up."""
    interview = _interviewed(3, seed=0, questions=40)
    bandit = interview.bandit
    decision = bandit.decide(people(6, 3, seed=8))
    certificate = bandit.certify(decision)
    assert certificate.count("proved") > 7  # of 15
    assert {quoted.decision for pair in certificate.pairs for quoted in pair.evidence} == {ANSWER}
    check(certificate, [(decision, []), *interview.sources()])


def test_an_invented_answer_is_detected() -> None:
    """Without one of the answers it quotes among the sources, a certificate is refused."""
    interview = _interviewed(3, seed=0, questions=40)
    answers = interview.sources()
    decision = interview.bandit.decide(people(6, 3, seed=8))
    certificate = interview.bandit.certify(decision)
    quoted = {(q.difference, q.gap) for pair in certificate.pairs for q in pair.evidence}
    for missing in answers:
        z = tuple(np.subtract(missing["x"], missing["y"]).tolist())
        rest: list[Any] = [(decision, []), *(answer for answer in answers if answer is not missing)]
        if (z, missing["gap"]) in quoted:
            with pytest.raises(
                InvalidCertificate, match="the certificate is not valid: an answer it quotes is not among the sources"
            ):
                check(json.loads(json.dumps(certificate.to_dict())), rest)
        else:
            check(certificate, rest)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.statistical) for seed in (1, 2))])
def test_a_cap_of_zero_after_an_interview_leaves_something_to_earn(seed: int) -> None:
    """d = 3, k = 4, max_unfair_rounds=0: no round is ever flagged; uninterviewed, that means equal probabilities.

    After 40 questions less than half of that is lost to the best fair policy.
    """
    theta, A = standard_world(3, seed=seed)
    regret = []
    for questions in (0, 40):
        interview = _interviewed(3, seed=seed, questions=questions, max_unfair_rounds=0)
        world = LinearEnvironment(theta, n_candidates=4)
        account = play(interview.bandit, world, MahalanobisAuditor(A), rounds=150, epsilon=0.02, seed=seed)
        assert account.flagged_rounds_by_reviewer == 0
        regret.append(float(np.sum(account.regret)))
    assert regret[1] < 0.5 * regret[0]


def test_taking_an_answer_back_takes_its_proof_back() -> None:
    """After undo the evidence is what it was before, to the bit."""
    interview = _interviewed(2, seed=1, questions=10)
    before = _interviewed(2, seed=1, questions=9)
    interview.undo()
    left, right = (each.bandit.safeguards.log.evidence.verdicts for each in (interview, before))
    assert len(left) > 0
    assert np.array_equal(left.differences, right.differences)


@pytest.mark.slow
def test_an_interview_makes_a_cap_of_zero_free() -> None:
    """d = k = 5, five seeds, 300 rounds, max_unfair_rounds=0, interviewed until all is known: nothing is flagged.

    Regret is at most a fifth more than that of a bandit without a cap. Prints both; see docs/interview.md.
    """
    capped, free = [], []
    for seed in range(5):
        interview, reviewer = standard(5, seed=seed, enough=0.0, max_unfair_rounds=0)
        account = live(interviewed(interview, reviewer).bandit, d=5, k=5, rounds=300, seed=seed)
        assert account.flagged_rounds_by_reviewer == 0
        capped.append(float(np.sum(account.regret)))
        uncapped = eh.FairBandit(5, epsilon=0.01, seed=seed, reviewer_error=1e-3)
        free.append(float(np.sum(live(uncapped, d=5, k=5, rounds=300, seed=seed).regret)))
    print(f"regret {np.mean(capped):.2f} with the cap, {np.mean(free):.2f} without")
    assert np.mean(capped) < 1.2 * np.mean(free)
