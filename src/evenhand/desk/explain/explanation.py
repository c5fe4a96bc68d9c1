"""Why these odds: what each candidate was expected to bring, which pairs bound them, and what fairness cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.allocation import fair_distribution
from evenhand.desk.event_records import decision_of
from evenhand.desk.explain.evidence import Quoted, Remembered
from evenhand.desk.explain.sources import Elsewhere
from evenhand.desk.projection.projection import Projection
from evenhand.desk.settings import DeskSettings, coordinates
from evenhand.ledger.event import Event
from evenhand.ledger.ledger import Ledger
from evenhand.records.decision import Decision
from evenhand.schema.named import sentences_of_names

Floats = NDArray[np.float64]

NEGLIGIBLE = 0.0005
"""A smaller price is written as none."""


@dataclass(frozen=True)
class CandidateShare:
    """What one candidate got, and what was expected of them."""

    id: str
    probability: float
    chosen: bool
    estimated_reward: float
    """The best estimate, when it was decided."""
    optimistic_reward: float
    """The highest one still believable: what the odds were chosen for."""


@dataclass(frozen=True)
class BindingPair:
    """Two candidates whose odds could not differ more."""

    first: str
    second: str
    gap: float
    """By how much their odds differ: exactly the distance that was played for them."""
    distance: float
    """The best estimate of how different they are, as of the explanation's state."""
    lower: float
    upper: float
    chance_unfair: float
    """How likely it is that a reviewer would flag them."""
    shaped_by: tuple[Quoted, ...]
    """What reviewers said of pairs that differ in the same way, the most alike first."""


@dataclass(frozen=True)
class Price:
    """What fairness cost: the value of the best odds without it, less the value of those that were played."""

    expected_reward: float
    """By the best estimates. Odds are chosen for optimistic rewards, so it may be below zero."""
    optimistic_reward: float
    """By the rewards that the odds were chosen for: never below zero."""
    odds_without: dict[str, float]
    """What the odds would have been."""


@dataclass(frozen=True)
class Explanation:
    """Why a decision had the odds it had."""

    decision: str
    number: int
    decided_from: int
    """The line of the ledger up to which everything was known when it was decided."""
    state: int
    """The same for what is said here of distances."""
    candidates: tuple[CandidateShare, ...]
    binding_pairs: tuple[BindingPair, ...]
    price: Price
    sentences: tuple[str, ...]
    worst_residual: float | None
    """By how much the odds exceed the limit that they exceed most, as measured when it was decided: rounding, or 0.
    None in the first ledgers, which noted no more than that it was at most 1e-9."""

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers."""
        return asdict(self)


@dataclass(frozen=True)
class Metric:
    """The learned metric: the matrix G, and how sure it is along each coordinate."""

    state: int
    matrix: list[list[float]]
    coordinates: list[str]
    distance: list[float]
    """What a difference of 1 in each coordinate alone makes, by the estimate."""
    lower: list[float]
    upper: list[float]
    sentences: tuple[str, ...]
    """In words: of the schema's features, or else of what a difference of 1 in each does."""
    reviews_in_conflict: int
    misleading_reviewers: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers."""
        return asdict(self)


def explain(event: Event, state: Projection, ledger: Ledger, elsewhere: Elsewhere, desk: str) -> Explanation:
    """The explanation of a decision, with what `state` knows of distances."""
    body, decision = event.body, decision_of(event.body)
    ids, estimated = body["candidates"], np.array(body["estimated_rewards"])
    shares = tuple(
        CandidateShare(name, float(p), i in decision.chosen, float(estimate), float(hope))
        for i, (name, p, estimate, hope) in enumerate(
            zip(ids, decision.probabilities, estimated, decision.optimistic_rewards, strict=True)
        )
    )
    differences = np.array([decision.contexts[i] - decision.contexts[j] for i, j in decision.tight_pairs])
    quoted = (
        Remembered(state).most_alike(differences, ledger, elsewhere, desk, body["state"]) if len(differences) else []
    )
    pairs = _binding_pairs(event, decision, state, quoted)
    price = _price(decision, ids, estimated)
    known = (event.id, decision.round, body["state"], state.seq)
    return Explanation(*known, shares, pairs, price, _sentences(shares, pairs, price), decision.worst_residual)


def _binding_pairs(
    event: Event, decision: Decision, state: Projection, quoted: Sequence[tuple[Quoted, ...]]
) -> tuple[BindingPair, ...]:
    if not decision.tight_pairs:
        return ()
    ids = event.body["candidates"]
    known = state.bandit.distances(decision.contexts)
    chances = _chances(decision, state)
    return tuple(
        BindingPair(
            ids[i],
            ids[j],
            decision.gap(i, j),
            float(known.estimate[i, j]),
            float(known.lower[i, j]),
            float(known.upper[i, j]),
            chances.get((i, j), 0.0),
            said,
        )
        for (i, j), said in zip(decision.tight_pairs, quoted, strict=True)
    )


def _chances(decision: Decision, state: Projection) -> dict[tuple[int, int], float]:
    """How likely each pair is unfair; of a decision that the state has not counted yet, nothing is said."""
    if decision.round >= state.bandit.rounds:
        return {}
    k = decision.n_candidates
    found = state.bandit.pairs_to_review(decision, k * (k - 1) // 2)
    return {pair.pair: pair.chance_unfair for pair in found}


def _price(decision: Decision, ids: list[str], estimated: Floats) -> Price:
    k = decision.n_candidates
    free = fair_distribution(decision.optimistic_rewards, np.full((k, k), np.inf), decision.capacity)
    gained = free.probabilities - decision.probabilities
    return Price(
        expected_reward=float(estimated @ gained),
        optimistic_reward=float(decision.optimistic_rewards @ gained),
        odds_without=dict(zip(ids, free.probabilities.tolist(), strict=True)),
    )


def _sentences(shares: tuple[CandidateShare, ...], pairs: tuple[BindingPair, ...], price: Price) -> tuple[str, ...]:
    best = max(shares, key=lambda share: share.optimistic_reward)
    told = [
        f"The most could be hoped for from candidate {best.id}: {best.optimistic_reward:.2f} at best, "
        f"{best.estimated_reward:.2f} expected; the odds were {best.probability:.1%}."
    ]
    for pair in pairs[:3]:
        told.append(
            f"The odds of candidates {pair.first} and {pair.second} were kept within {pair.gap:.1%} of each other, to "
            f"be on the safe side: their distance is taken to be {pair.distance:.3f}, from {pair.lower:.3f} to "
            f"{pair.upper:.3f}."
        )
    if len(pairs) > 3:
        told.append(f"{len(pairs) - 3} more pair{'s' if len(pairs) > 4 else ''} bound the odds.")
    told.append(price_in_words(price))
    return tuple(told)


def price_in_words(price: Price) -> str:
    """What fairness cost by the rewards the odds were chosen for, which it can only lower; then by the estimates."""
    if price.optimistic_reward < NEGLIGIBLE:
        return "Fairness cost nothing: the odds would have been worth no more without it."
    told = f"Fairness cost {price.optimistic_reward:.3f} of the reward hoped for, which the odds were chosen for"
    if price.expected_reward >= NEGLIGIBLE:
        return f"{told}, and {price.expected_reward:.3f} of the reward expected."
    return f"{told}, and nothing of the reward expected: more was hoped for from others, but not expected of them."


def metric_of(state: Projection, settings: DeskSettings) -> Metric:
    """The metric that a state has learned."""
    learner, d = state.bandit.metric, settings.n_features
    matrix = learner.get_mahalanobis_matrix()
    lower, upper = learner.ends_of(np.eye(d))
    named = settings.features or coordinates(d)
    if settings.schema is not None:
        named = settings.schema.coordinates
        told = settings.schema.explain(matrix, ends=learner.ends_of).sentences
    else:
        told = sentences_of_names(named, matrix, ends=learner.ends_of)
    return Metric(
        state.seq,
        matrix.tolist(),
        list(named),
        np.sqrt(np.maximum(np.diag(matrix), 0.0)).tolist(),
        lower.tolist(),
        upper.tolist(),
        told,
        state.bandit.conflicts,
        sorted(str(name) for name in state.bandit.misleading),
    )
