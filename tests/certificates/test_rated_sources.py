"""Proofs that rest on ratings and comparisons."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.certificates import check
from evenhand.certificates.check import _verdict
from evenhand.errors import InvalidCertificate


def test_a_proof_from_ratings_is_checked_against_them() -> None:
    """A later decision is proved fair by ratings; with other ratings as sources the checker refuses the proof."""
    rng = np.random.default_rng(3)
    bandit = eh.FairBandit(2, seed=0, epsilon=0.05, reviewer_error=1e-3)
    sources: list[tuple[eh.Decision, list[eh.Review]]] = []
    for _ in range(60):
        contexts = rng.uniform(-0.7, 0.7, (3, 2))
        decision = bandit.decide(contexts)
        review = eh.Review.ratings(
            {i: float(score) for i, score in enumerate(np.clip(3 + 2.5 * contexts[:, 0], 1, 5))}, reviewer="Kim"
        )
        bandit.learn(decision, review=review)
        sources.append((decision, [review]))
    certificate = bandit.certify(decision)
    assert any(pair.status == "proved" for pair in certificate.pairs)
    check(certificate, sources)
    others = [(made, [eh.Review.ratings({0: 3, 1: 3, 2: 3}, tolerance=0.0, reviewer="Kim")]) for made, _ in sources]
    with pytest.raises(InvalidCertificate):
        check(certificate, others)


@given(
    st.lists(st.integers(0, 40).map(lambda n: n / 40), min_size=3, max_size=3),
    st.lists(st.integers(1, 5), min_size=2, max_size=2),
    st.sampled_from(["alike", "first", "second"]),
)
def test_the_checker_reads_the_same_verdicts(p: list[float], scores: list[int], said: str) -> None:
    """The checker, which shares no code with the library, finds the verdicts that the library learns from."""
    answers = {(0, 2): said}
    for review in (
        eh.Review.ratings({0: scores[0], 2: scores[1]}),
        eh.Review.comparisons(answers),  # type: ignore[arg-type]
    ):
        verdicts = review.as_verdicts(p)
        for pair in ((0, 1), (0, 2), (1, 2)):
            expected = True if pair in verdicts.unfair else False if pair in verdicts.fair else None
            assert _verdict(review.to_dict(), {"probabilities": p}, list(pair)) is expected
