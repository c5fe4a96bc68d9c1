"""Why a decision had its probabilities: expected rewards, binding pairs, and the price of fairness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.allocation import fair_distribution
from evenhand.bandit.explain_metric import interaction_signs
from evenhand.desk.event_records import decision_of
from evenhand.desk.explain.evidence import Quoted, RememberedVerdicts, VerdictSources
from evenhand.desk.projection.projection import Projection
from evenhand.desk.remaining import erased_in
from evenhand.desk.settings import DeskSettings, coordinates
from evenhand.desk.shadow import action_of
from evenhand.ledger.event import Event
from evenhand.ledger.ledger import Ledger
from evenhand.metrics import Pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Mode
from evenhand.schema.interaction_words import signs_in_words
from evenhand.schema.words import sentences_of_names

Floats = NDArray[np.float64]

NEGLIGIBLE = 0.0005
"""A smaller price is written as none."""


@dataclass(frozen=True)
class CandidateShare:
    """One candidate's probability and expected reward."""

    id: str
    probability: float
    chosen: bool
    estimated_reward: float | None
    """The best estimate when it was decided; None if the candidate was erased."""
    optimistic_reward: float | None
    """The highest plausible one, which the probabilities maximise; None if the candidate was erased."""
    lower: float = 0.0
    """The floor that was given."""
    upper: float = 1.0
    """The ceiling that was given."""
    held_by: Literal["floor", "ceiling"] | None = None
    """Whether the probability is at a floor above 0 or a ceiling below 1 that was given."""


@dataclass(frozen=True)
class BindingPair:
    """Two candidates whose probabilities could not differ more."""

    first: str
    second: str
    gap: float
    """The difference of their probabilities: exactly the distance that was used for them."""
    distance: float
    """The best estimate of their distance, as of the explanation's projection."""
    lower: float
    upper: float
    chance_unfair: float
    """The probability that a reviewer would flag them."""
    shaped_by: tuple[Quoted, ...]
    """Verdicts on pairs that differ in the same way, the most similar first."""


@dataclass(frozen=True)
class Price:
    """The price of fairness: the value of the best probabilities without it, less the value of those chosen.

    Floors and ceilings hold for both.
    """

    expected_reward: float
    """By the best estimates. Probabilities maximise optimistic rewards, so it may be below zero."""
    optimistic_reward: float
    """By optimistic rewards: never below zero."""
    probabilities_without: dict[str, float]
    """The best probabilities without fairness."""


@dataclass(frozen=True)
class Explanation:
    """Why a decision had its probabilities."""

    decision: str
    number: int
    decided_from: int
    """The projection that it was made from: events up to this seq."""
    state: int
    """The projection that the distances here are from."""
    candidates: tuple[CandidateShare, ...]
    binding_pairs: tuple[BindingPair, ...]
    price: Price | None
    """None if a candidate was erased: it cannot be computed without their estimates."""
    sentences: tuple[str, ...]
    worst_residual: float | None
    """How far the probabilities exceed a constraint at most, measured when it was decided: rounding, or 0. None in the
    first ledgers, which recorded only that it was at most 1e-9."""
    unproved_pairs: int = 0
    """Pairs that got equal probabilities because the search for the proofs that the cap asks for is limited."""
    shadow: bool = False
    """Whether it was made in shadow mode: nobody acted on it, and those chosen were chosen by the system in force."""
    action: dict[str, Any] | None = None
    """Of a decision in shadow mode: what the system in force did, if it is known."""
    mode: Mode = "lottery"
    """Whether candidates were drawn with the probabilities, or each got that share of what was asked."""

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers."""
        return asdict(self)


@dataclass(frozen=True)
class Metric:
    """The learned metric: the matrix G, and its confidence along each coordinate."""

    state: int
    matrix: list[list[float]]
    coordinates: list[str]
    distance: list[float]
    """The estimated distance of a difference of 1 in each coordinate alone."""
    lower: list[float]
    upper: list[float]
    sentences: tuple[str, ...]
    """In words: about the schema's features, or about a difference of 1 in each coordinate."""
    reviews_in_conflict: int
    misleading_reviewers: list[str]
    flags_left: int | None = None
    """A proved number of decisions that can still be flagged at most; None if the metric learner has no theorem."""
    promise: str | None = None
    """The same in a sentence, with its conditions."""
    no_metric_fits: bool = False
    """Whether the reviewers' answers were found to follow no metric."""
    fit: tuple[str, ...] = ()
    """How well a metric explains the answers, in sentences."""

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers."""
        return asdict(self)


def explain(event: Event, projection: Projection, ledger: Ledger, sources: VerdictSources, desk: str) -> Explanation:
    """The explanation of a decision, with the distances of `projection`."""
    body, erased = event.body, erased_in(event.body)
    decision, ids = projection.bandit.own(decision_of(body)), body["candidates"]
    if erased:
        of_others = [(i, j) for i, j in decision.tight_pairs if erased.isdisjoint((ids[i], ids[j]))]
        decision = projection.bandit.own(replace(decision, tight_pairs=tuple(of_others)))
    is_shadow, action, chosen = bool(body.get("shadow")), None, body["chosen"]
    if is_shadow:
        with ledger.reading(desk) as view:
            action = action_of(body, view.about([event.id]))
        chosen = () if action is None else action["chosen"]
    rewards = zip(ids, decision.probabilities, body["estimated_rewards"], body["optimistic_rewards"], strict=True)
    shares = tuple(
        CandidateShare(name, float(p), name in chosen, estimate, optimistic, *_bounds(decision, i))
        for i, (name, p, estimate, optimistic) in enumerate(rewards)
    )
    differences = np.array([decision.contexts[i] - decision.contexts[j] for i, j in decision.tight_pairs])
    quoted: list[tuple[Quoted, ...]] = []
    if len(differences):
        quoted = RememberedVerdicts(projection, ledger, sources, desk).most_alike(differences, body["state"])
    pairs = _binding_pairs(ids, decision, projection, quoted)
    price = None if erased else price_of(decision, ids, np.array(body["estimated_rewards"]))
    where = (event.id, decision.round, body["state"], projection.seq)
    sentences = (
        *(_in_shadow(action, decision.mode) if is_shadow else ()),
        *_sentences(shares, pairs, price, decision.mode),
        *_unproved(decision.unproved_pairs),
        *_left_out(body.get("left_out", ())),
        *_erased(erased),
    )
    shown = (shares, pairs, price, sentences)
    computed = (decision.worst_residual, decision.unproved_pairs)
    return Explanation(*where, *shown, *computed, is_shadow, action, decision.mode)


def _bounds(decision: Decision, i: int) -> tuple[float, float, Literal["floor", "ceiling"] | None]:
    """The floor and the ceiling of a candidate, and which of them holds the probability."""
    if decision.lower is None or decision.upper is None:
        return 0.0, 1.0, None
    p, lower, upper = decision.probabilities[i], float(decision.lower[i]), float(decision.upper[i])
    if lower > 0.0 and p <= lower + PROBABILITY_TOLERANCE:
        return lower, upper, "floor"
    return lower, upper, "ceiling" if upper < 1.0 and p >= upper - PROBABILITY_TOLERANCE else None


def _in_shadow(action: dict[str, Any] | None, mode: Mode) -> list[str]:
    """A sentence about a decision that nobody acted on."""
    if action is None:
        return ["This desk was in shadow mode and chose nobody. What the system in force did is not known yet."]
    chosen = ", ".join(action["chosen"]) or "nobody"
    did = f"gave shares to {chosen}" if mode == "shares" else f"chose {chosen}"
    return [f"This desk was in shadow mode and chose nobody. The system in force {did}."]


def _unproved(pairs: int) -> list[str]:
    """A sentence about pairs that the search for proofs did not get to."""
    if pairs == 0:
        return []
    some = "1 pair was" if pairs == 1 else f"{pairs} pairs were"
    return [
        "Only gaps that earlier reviews prove fair may be played, and the search for proofs is limited: "
        f"{some} left without one and got equal probabilities."
    ]


def _left_out(people: Sequence[dict[str, Any]]) -> list[str]:
    """Sentences about candidates who took no part."""
    return [f"Candidate {one['id']} was left out: {'; '.join(one['reasons'])}." for one in people]


def _erased(people: frozenset[str]) -> list[str]:
    """Sentences about candidates who were erased."""
    return [
        f"Candidate {name} was erased: probabilities are as they were recorded, features and estimates are gone."
        for name in sorted(people)
    ]


def _binding_pairs(
    ids: list[str], decision: Decision, projection: Projection, quoted: Sequence[tuple[Quoted, ...]]
) -> tuple[BindingPair, ...]:
    if not decision.tight_pairs:
        return ()
    metric, pairs = projection.bandit.metric, Pairs.named(decision.contexts, np.array(decision.tight_pairs))
    known = (metric.estimate(pairs), *metric.ends(pairs))
    distances, lower, upper = (np.sqrt(np.maximum(squared, 0.0)).tolist() for squared in known)
    gaps = np.array([decision.gap(i, j) for i, j in decision.tight_pairs])
    chances = np.zeros(len(gaps))
    if decision.round < projection.bandit.rounds:  # the projection has counted it
        chances = np.where(gaps > PROBABILITY_TOLERANCE, metric.chance_unfair(pairs, gaps), 0.0)
    measured = zip(gaps.tolist(), distances, lower, upper, chances.tolist(), quoted, strict=True)
    named = zip(decision.tight_pairs, measured, strict=True)
    return tuple(BindingPair(ids[i], ids[j], *values) for (i, j), values in named)


def price_of(decision: Decision, ids: list[str], estimated: Floats) -> Price:
    """What fairness cost in a decision; estimated: the best estimate of each candidate's reward, (k,)."""
    k = decision.n_candidates
    bounds: dict[str, Any] = {"lower": decision.lower, "upper": decision.upper}
    free = fair_distribution(decision.optimistic_rewards, np.full((k, k), np.inf), decision.capacity, **bounds)
    gained = free.probabilities - decision.probabilities
    return Price(
        expected_reward=float(estimated @ gained),
        optimistic_reward=float(decision.optimistic_rewards @ gained),
        probabilities_without=dict(zip(ids, free.probabilities.tolist(), strict=True)),
    )


def _held(shares: tuple[CandidateShare, ...], word: str) -> list[str]:
    """Sentences about candidates at a floor or a ceiling."""
    found = []
    for side in ("floor", "ceiling"):
        held = [share for share in shares if share.held_by == side]
        found += [f"The {word} of candidate {share.id}, {share.probability:.1%}, is its {side}." for share in held[:3]]
        if len(held) > 3:
            found.append(f"{len(held) - 3} more candidate{'s are' if len(held) > 4 else ' is'} at a {side}.")
    return found


def _sentences(
    shares: tuple[CandidateShare, ...], pairs: tuple[BindingPair, ...], price: Price | None, mode: Mode
) -> tuple[str, ...]:
    word, words = ("share", "shares") if mode == "shares" else ("probability", "probabilities")
    known = [share for share in shares if share.optimistic_reward is not None]
    best, sentences = max(known, key=lambda share: share.optimistic_reward or 0.0, default=None), list[str]()
    if best is not None:
        remaining = " of those not erased" if len(known) < len(shares) else ""
        sentences.append(
            f"Candidate {best.id} had the highest optimistic reward{remaining}, {best.optimistic_reward:.2f}; the "
            f"estimate was {best.estimated_reward:.2f}, the {word} {best.probability:.1%}."
        )
    sentences += _held(shares, word)
    sentences += [
        f"The {words} of candidates {pair.first} and {pair.second} were kept within {pair.gap:.1%}: "
        f"their distance is estimated at {pair.distance:.3f}, between {pair.lower:.3f} and {pair.upper:.3f}."
        for pair in pairs[:3]
    ]
    if len(pairs) > 3:
        sentences.append(f"{len(pairs) - 3} more pair{'s' if len(pairs) > 4 else ''} limited the {words}.")
    return (*sentences, price_in_words(price, words)) if price is not None else tuple(sentences)


def price_in_words(price: Price, words: str = "probabilities") -> str:
    """The price by optimistic rewards, which fairness can only lower; then by the estimates."""
    if price.optimistic_reward < NEGLIGIBLE:
        return f"Fairness cost nothing: without it the {words} would have been worth no more."
    sentence = f"Fairness cost {price.optimistic_reward:.3f} of the optimistic reward, which the {words} maximise"
    if price.expected_reward >= NEGLIGIBLE:
        return f"{sentence}, and {price.expected_reward:.3f} of the expected reward."
    return f"{sentence}, and nothing of the expected reward."


def metric_of(projection: Projection, settings: DeskSettings) -> Metric:
    """The metric that a projection has learned."""
    learner, d = projection.bandit.metric, settings.n_features
    matrix = learner.get_mahalanobis_matrix()
    lower, upper = learner.ends_of(np.eye(d))
    named = settings.features or coordinates(d)
    if settings.schema is not None:
        named = settings.schema.coordinates
        sentences = projection.bandit.explain(settings.schema).sentences
    else:
        signs = interaction_signs(learner, named)
        sentences = sentences_of_names(named, matrix, ends=learner.ends_of)
        sentences = sentences if signs is None else (*sentences, *signs_in_words(signs))
    fit = projection.bandit.fit(settings.schema or named)
    return Metric(
        projection.seq,
        matrix.tolist(),
        list(named),
        np.sqrt(np.maximum(np.diag(matrix), 0.0)).tolist(),
        lower.tolist(),
        upper.tolist(),
        sentences,
        projection.bandit.conflicts,
        sorted(str(name) for name in projection.bandit.misleading),
        projection.bandit.flags_left,
        projection.bandit.promise,
        fit.speaks_up,
        fit.sentences,
    )
