"""Decisions under the review of one person whose ratings are frozen: what they earn, and whom they treat unfairly."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand.allocation import fair_distribution
from evenhand.auditors.pairs import gaps
from evenhand.bandit import FairBandit
from evenhand.errors import InconsistentReviews, MisleadingReviewer, NoMetricFits
from evenhand.lab.people.answers import POOL, RatedPairs
from evenhand.lab.people.features import schema_of
from evenhand.lab.people.learners import LEARNERS
from evenhand.lab.people.person_model import PersonModel, expected_rewards, nearest_metric
from evenhand.lab.people.players import KnownDistances, OffsetRidgeUCB, Player, PlusFavourite
from evenhand.lab.people.study import RatingStudy, distances_of
from evenhand.lab.store import Columns
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Pair, Review
from evenhand.schema.scales import Scale

K = 10
"""Candidates of a round."""
REVIEWED = 3
"""Reviewed pairs of a round."""
EARLY, LATE = 0.1, 0.3
"""Shares of the rounds that count as early and as late."""

FAVOURITE, KNOWN_PERSON = "equal plus favourite", "knows the person"
NEAREST_METRIC, KNOWN_MODEL = "knows the nearest metric", "knows a model and its residual"
FLOORS, CEILINGS = (FAVOURITE,), (KNOWN_PERSON, NEAREST_METRIC, KNOWN_MODEL)

REVIEWERS = ("ratings", "model")
"""Who reviews: the person's own ratings, or ratings drawn from a linear model of the person with its residual."""


@dataclass(frozen=True)
class Round:
    """What one round counts."""

    unfair: int
    """Pairs whose gap exceeds their distance."""
    reward: float
    """The expected reward of the probabilities played."""
    best: float
    """That of the best fair probabilities, rewards and distances known."""
    equal: float
    """That of equal probabilities."""
    binding: int
    """Reviewed pairs whose distance limited the probabilities."""
    binding_flagged: int
    lapses: float = math.nan
    """The share of the reviewer's answers that is taken for errors after the round."""


def counted(decision: Decision, rewards: Floats, distances: Floats, reviewed: Sequence[Pair]) -> Round:
    """The account of a round: rewards (k,) and distances (k, k) are the true ones of its candidates."""
    unfair = gaps(decision) > distances + PROBABILITY_TOLERANCE
    binding = [pair for pair in reviewed if pair in set(decision.tight_pairs)]
    return Round(
        unfair=int(np.sum(np.triu(unfair, 1))),
        reward=float(decision.probabilities @ rewards),
        best=fair_distribution(rewards, distances, decision.capacity).value,
        equal=float(np.mean(rewards)) * min(decision.capacity or len(rewards), len(rewards)),
        binding=len(binding),
        binding_flagged=sum(bool(unfair[pair]) for pair in binding),
    )


def reviewed_by(decision: Decision, distances: Floats, pairs: Sequence[Pair]) -> Review:
    """The person's review of these pairs of a decision."""
    unfair = gaps(decision) > distances + PROBABILITY_TOLERANCE
    flagged = [pair for pair in pairs if unfair[pair]]
    return Review.partial(unfair=flagged, fair=[pair for pair in pairs if not unfair[pair]])


def play_rounds(
    player: Player, distances: Floats, rewards: Floats, outcomes: Floats, *, rounds: int, seed: Sequence[int]
) -> list[Round]:
    """Let the player decide under the review of REVIEWED pairs a round; distances (n, n), rewards, outcomes (n,).

    The seed fixes the candidates of each round, whoever plays.
    """
    rng, found = np.random.default_rng([*seed]), []
    for _ in range(rounds):
        candidates: Indices = rng.choice(len(rewards), K, replace=False)
        decision = player.decide(candidates)
        here = distances[np.ix_(candidates, candidates)]
        pairs = [proposal.pair for proposal in player.bandit.pairs_to_review(decision, REVIEWED)]
        account = counted(decision, rewards[candidates], here, pairs)
        earned = {i: float(outcomes[candidates[i]]) for i in decision.chosen}
        player.bandit.learn(decision, rewards=earned, review=reviewed_by(decision, here, pairs) if pairs else None)
        report = player.bandit.reviewers().get(None)
        found.append(account if report is None else replace(account, lapses=report.error_rate))
    return found


def play_person(
    study: RatingStudy,
    *,
    contender: str,
    panel: bool,
    caution: float,
    reviewer: str,
    person: int,
    rounds: int,
    n_folds: int,
    scale: Scale,
    seed: int,
) -> Columns:
    """One player under the review of one person; one row.

    caution: the quantile that a learner plays; the bonus of the favourite; the factor on distances that are known; the
    quantile of a known model.
    """
    contexts = study.contexts(scale)
    ratings = study.ratings[:, person]
    if reviewer == "model":
        model = PersonModel.linear(contexts, ratings, np.unique(study.ratings))
        ratings = model.drawn(np.random.default_rng([seed, person, 2]))
    distances, rewards = distances_of(ratings), expected_rewards(study.contexts("log"), study.outcomes)
    reward = OffsetRidgeUCB(contexts.shape[1], len(schema_of(study.table, scale).features))
    own, of_player = np.random.default_rng([seed, person, 3]).spawn(2)
    bandit: FairBandit
    if contender == FAVOURITE:
        bandit = PlusFavourite(caution, reward, own)
    elif contender in CEILINGS:
        bandit = KnownDistances(_known(contender, contexts, ratings, study, caution), reward, own)
    else:
        entry = LEARNERS[contender]
        learner = entry.make(contexts.shape[1], caution, int(of_player.integers(2**31)))
        if panel:
            assert entry.with_panel is not None
            others = RatedPairs(study, person, scale, pool=POOL, n_folds=n_folds, seed=seed).panel()
            learner = entry.with_panel(learner, others)
        bandit = FairBandit(contexts.shape[1], metric=learner, reward=reward, seed=own)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentReviews)
        warnings.simplefilter("ignore", MisleadingReviewer)
        warnings.simplefilter("ignore", NoMetricFits)
        player = Player(contexts, bandit)
        played = play_rounds(player, distances, rewards, study.outcomes, rounds=rounds, seed=[seed, person])
    found: dict[str, list[float]] = {
        "conflicts": [bandit.conflicts],
        "no_metric": [float(bandit.fit_check.speaks_up)],
    }
    return {**{name: [value] for name, value in totals(played).items()}, **found}


def _known(contender: str, contexts: Floats, ratings: Floats, study: RatingStudy, size: float) -> Floats:
    """The distances that a ceiling plays, (n, n)."""
    if contender == KNOWN_PERSON:
        return size * distances_of(ratings)
    if contender == KNOWN_MODEL:
        return PersonModel.boosted(contexts, ratings, np.unique(study.ratings)).cautious_distances(size)
    images = contexts @ nearest_metric(contexts, distances_of(ratings)).T
    return size * np.asarray(np.linalg.norm(images[:, None, :] - images[None, :, :], axis=2))


def totals(played: Sequence[Round]) -> dict[str, float]:
    """Unfair pairs a round early and late, gains late and in all, the share of binding reviewed pairs flagged, and the
    highest share of answers that was ever taken for errors.

    A gain is what is earned beyond equal probabilities, as a share of what the best fair probabilities earn.
    """
    rounds = len(played)
    early, late = played[: max(1, round(EARLY * rounds))], played[-max(1, round(LATE * rounds)) :]
    half = played[rounds // 2 :]
    binding = sum(one.binding for one in half)
    return {
        "early": float(np.mean([one.unfair for one in early])),
        "late": float(np.mean([one.unfair for one in late])),
        "gain": _gain(late),
        "gain_of_all": _gain(played),
        "binding": binding / len(half),
        "binding_flagged": sum(one.binding_flagged for one in half) / binding if binding else math.nan,
        "lapses": max((one.lapses for one in played if not math.isnan(one.lapses)), default=math.nan),
    }


def _gain(played: Sequence[Round]) -> float:
    earned = sum(one.reward - one.equal for one in played)
    attainable = sum(one.best - one.equal for one in played)
    return earned / attainable if attainable > 0 else math.nan
