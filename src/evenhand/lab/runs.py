"""The runs that experiments are made of: settings in, a curve at checkpoints out.

A seed has one stream each for the truth, the world, the policy and the reviewer, so that every policy with the same
seed meets the same truth, candidates and outcomes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.randomness import Seed, separate_streams
from evenhand.auditors import Auditor, MahalanobisAuditor, Truth
from evenhand.bandit import FairBandit
from evenhand.bandit.safeguards import Target
from evenhand.baselines import Facts, Policy
from evenhand.environments import FairEnvironment, make_world
from evenhand.environments.truths import random_metric
from evenhand.errors import InconsistentReviews, InvalidInput, MisleadingReviewer, NoMetricFits
from evenhand.interview import Interview
from evenhand.lab._attack import CloudAttacker
from evenhand.lab.account import checkpoints
from evenhand.lab.play import play
from evenhand.lab.policies import make_policy
from evenhand.lab.reviewers import PANELS, ReviewerSetting
from evenhand.lab.store import Columns
from evenhand.metrics import BayesPoint, MetricLearner, ReviewerReport, VersionSpace, default_learner
from evenhand.metrics.learner_settings import ASSUMED_ERROR_RATE

ASSUMED_ERROR = ASSUMED_ERROR_RATE
"""The error rate of learners that take a reviewer to be exact, but for slips."""

POOL = 500
"""Candidates that an interview may ask about; none of them takes part in the rounds."""

ROUNDING = 1e-6
"""Tolerance of a distance outside its ends, which come from linear programmes."""


def standard_run(
    *,
    policy: str,
    d: int,
    k: int,
    rounds: int,
    epsilon: float,
    seed: int,
    world: str = "sphere",
    metric: str = "full",
    norm: float = 0.7,
    reward: str = "gaussian",
    capacity: int | None = 1,
    reveal_at: int | None = None,
) -> Columns:
    """Play `policy` in one world with a complete, exact review of every decision.

    reveal_at: the round at which "direction-hider" shows what it hid. "lending" has its own truth and ignores d, metric
    and norm. The column `conflicts` has the number of disbelieved verdicts of the whole run.

    >>> curve = standard_run(policy="equal-probabilities", d=2, k=3, rounds=8, epsilon=0.01, seed=0)
    >>> curve["round"][-1], curve["unfair_pairs"][-1]
    (8.0, 0.0)
    """
    of_truth, of_world, of_policy = separate_streams(seed, 3)
    shape: dict[str, Any] = {} if world == "lending" else {"n_features": d, "metric": metric, "norm": norm}
    place = make_world(world, n_candidates=k, reward=reward, seed=of_truth, **shape, **_reveal(reveal_at))
    facts = Facts(theta=place.theta, A=place.A, rounds=rounds, epsilon=epsilon, capacity=capacity)
    player, auditor = make_policy(policy, facts, of_policy), MahalanobisAuditor(place.A)
    columns = _curve(player, place, auditor, auditor, rounds=rounds, epsilon=epsilon, seed=of_world)
    return _with_ends(columns, conflicts=float(getattr(player, "conflicts", 0)))


def reviewed_run(
    *,
    policy: str,
    d: int,
    k: int,
    rounds: int,
    epsilon: float,
    seed: int,
    world: str = "sphere",
    norm: float = 0.7,
    reveal_at: int | None = None,
    reviewer_error: float | None = None,
    target_unfair_share: float | None = None,
    target: Target = "flagged",
    max_unfair_rounds: int | None = None,
    **reviewer: Any,
) -> Columns:
    """Play `policy` in one world under a reviewer; unfair pairs are counted by the truth, not by the reviewer.

    policy: "evenhand" is FairBandit with the four settings of the same names; any other of POLICIES takes none of
    them. reviewer: the fields of ReviewerSetting. The truth is the world's metric, unless the reviewer follows another.

    Columns besides the curve, for the whole run: `conflicts`, disbelieved verdicts; `lies_told`; `counted`, the sum of
    counts of flagged rounds that the target limits; `no_metric`, whether the bandit found that the answers follow none;
    both not a number for other policies; and what was learned about reviewers, `learned_rate` and `misleading`, for
    members of a panel `learned_rate_NAME` and `misleading_NAME`.

    >>> shape = {"d": 2, "k": 3, "rounds": 8, "epsilon": 0.05, "seed": 0}
    >>> curve = reviewed_run(policy="evenhand", **shape, shows="proposed pairs", wrong=0.1, reviewer_error=None)
    >>> curve["round"][-1], 0 < curve["learned_rate"][-1] < 0.5
    (8.0, True)
    """
    of_truth, of_world, of_policy, of_reviewer = separate_streams(seed, 4)
    place = make_world(world, n_candidates=k, n_features=d, norm=norm, seed=of_truth, **_reveal(reveal_at))
    player: Policy
    if policy == "evenhand":
        player = FairBandit(
            d,
            epsilon=epsilon,
            seed=of_policy,
            reviewer_error=reviewer_error,
            target_unfair_share=target_unfair_share,
            target=target,
            max_unfair_rounds=max_unfair_rounds,
        )
    else:
        facts = Facts(theta=place.theta, A=place.A, rounds=rounds, epsilon=epsilon)
        player = make_policy(policy, facts, of_policy)
    setting = ReviewerSetting(**reviewer)
    auditor, truth = setting.made(place.A, player, of_reviewer)
    timing: dict[str, Any] = {"rounds": rounds, "epsilon": epsilon, "seed": of_world}
    columns = _curve(player, place, auditor, truth, exact=setting.is_exact, **timing)
    ends = {"conflicts": float(getattr(player, "conflicts", 0)), "lies_told": float(getattr(auditor, "lies_told", 0))}
    bandit = player if isinstance(player, FairBandit) else None
    ends["counted"] = float("nan") if bandit is None else bandit.safeguards.counted
    ends["no_metric"] = float("nan") if bandit is None else float(bandit.fit_check.speaks_up)
    return _with_ends(columns, **ends, **_learned_of_reviewers(player, reviewer.get("panel")))


def interviewed_run(*, questions: int, d: int, k: int, rounds: int, epsilon: float, seed: int) -> Columns:
    """Ask an exact reviewer `questions` questions, then play in the standard world; the curve has the live rounds.

    Without a question it equals `standard_run`. Columns besides the curve: `asked`, fewer than `questions` if the
    interview ended early, and `expected`, the unfair pairs that the interview predicted for the live rounds.

    >>> curve = interviewed_run(questions=5, d=2, k=3, rounds=8, epsilon=0.05, seed=0)
    >>> curve["round"][-1], curve["asked"][-1]
    (8.0, 5.0)
    """
    of_truth, of_world, of_policy, of_interview = separate_streams(seed, 4)
    world = make_world("sphere", n_features=d, n_candidates=k, seed=of_truth)
    bandit, auditor = FairBandit(d, epsilon=epsilon, seed=of_policy), MahalanobisAuditor(world.A)
    interview = _interview(bandit, world, questions, of_interview)
    with _unwarned():
        expected = interview.expected_unfair_pairs
    columns = _curve(bandit, world, auditor, auditor, rounds=rounds, epsilon=epsilon, seed=of_world)
    return _with_ends(columns, asked=float(len(interview.answers)), expected=expected)


def promised_run(
    *,
    policy: str,
    d: int,
    k: int,
    rounds: int,
    epsilon: float,
    seed: int,
    error_rate: float | None,
    quantile: float | None = None,
    world: str = "sphere",
    rank: int | None = None,
    reveal_at: int | None = None,
    questions: int = 0,
    **reviewer: Any,
) -> Columns:
    """Play FairBandit under a reviewer, and compare the number of flagged rounds with every earlier promise.

    policy: "version-space"; "bayes-point", which has no `quantile`; or "evenhand", FairBandit's default, which learns
    the `error_rate` itself. world: any world, or "attacker", a CloudAttacker. rank: of the true metric, full by
    default. questions: asked before the first round. reviewer: the fields of ReviewerSetting.

    Columns besides the curve: `flags_left` after the round. For the whole run: `left_at_start`, `left_after_interview`,
    `allowed`, the least number of flagged rounds in all that was promised at any time; not a number where nothing is
    promised or the reviewer errs or is late. `refuted`: whether the learner found answers that fit no metric.
    `norm_bound`: its bound on ||G||_F at the end. `lies_told`.

    >>> curve = promised_run(policy="version-space", d=2, k=3, rounds=8, epsilon=0.05, seed=0, error_rate=0.0)
    >>> curve["flagged_rounds_by_reviewer"][-1] <= curve["allowed"][-1] <= curve["left_at_start"][-1]
    True
    """
    of_truth, of_world, of_policy, of_reviewer, of_metric, of_learner, of_interview = separate_streams(seed, 7)
    A = np.zeros((1, d)) if rank == 0 else random_metric(d, rank=rank, seed=of_metric)
    place = _attackable_world(world, A, n_candidates=k, seed=of_truth, **_reveal(reveal_at))
    metric = default_learner(d, epsilon=epsilon, seed=of_learner)
    if policy == "version-space":
        metric = VersionSpace(d, epsilon=epsilon, quantile=quantile, error_rate=error_rate, seed=of_learner)
    elif policy == "bayes-point":
        metric = BayesPoint(d, epsilon=epsilon, error_rate=error_rate)
    bandit = FairBandit(d, metric=metric, seed=of_policy)
    setting = ReviewerSetting(**reviewer)
    auditor, truth = setting.made(place.A, bandit, of_reviewer)
    at_start = _flags_left(bandit)
    if questions:
        _interview(bandit, place, questions, of_interview)
    after_interview = _flags_left(bandit)
    left: list[float] = []

    def note() -> None:
        left.append(_flags_left(bandit))

    with _unwarned():
        account = play(bandit, place, auditor, rounds=rounds, epsilon=epsilon, seed=of_world, truth=truth, each=note)
    ends = {
        "left_at_start": at_start,
        "left_after_interview": after_interview,
        "allowed": account.allowed if setting.is_exact else float("nan"),
        "refuted": float(getattr(bandit.metric, "is_refuted", False)),
        "norm_bound": float(getattr(bandit.metric, "bound", float("nan"))),
        "lies_told": float(getattr(auditor, "lies_told", 0)),
    }
    at = np.array(checkpoints(rounds)) - 1
    return _with_ends(account.curve() | {"flags_left": np.array(left)[at].tolist()}, **ends)


def _attackable_world(world: str, A: Floats, **settings: Any) -> FairEnvironment:
    """The world of this name, or the attacker's, with the metric A (r, d); "proxy" and "lending" have their own."""
    d = A.shape[1]
    if world == "attacker":
        place = make_world("sphere", n_features=d, metric=A, **settings)
        place.source = CloudAttacker(d)
        return place
    truth: dict[str, Any] = {"proxy": {"n_features": d}, "lending": {}}.get(world, {"n_features": d, "metric": A})
    return make_world(world, **truth, **settings)


def recovery_run(*, policy: str, d: int, k: int, rounds: int, epsilon: float, seed: int) -> Columns:
    """Play in the standard world and measure the learned metric at checkpoints, before the round's review."""
    of_truth, of_world, of_policy = separate_streams(seed, 3)
    world = make_world("sphere", n_features=d, n_candidates=k, seed=of_truth)
    bandit = make_policy(policy, Facts(theta=world.theta, A=world.A, rounds=rounds, epsilon=epsilon), of_policy)
    if not isinstance(bandit, FairBandit):
        raise InvalidInput(f"policy must be one that learns a metric, such as 'evenhand', got {policy!r}")
    auditor, wanted, rows = MahalanobisAuditor(world.A), checkpoints(rounds), []
    contexts, _ = world.reset(seed=of_world)
    with _unwarned():
        for number in range(1, rounds + 1):
            decision = bandit.decide(contexts)
            if number in wanted:
                so_far = {"round": float(number), "conflicts": float(bandit.conflicts)}
                rows.append(so_far | measure(bandit.metric, decision.contexts, world.A))
            bandit.learn(decision, rewards=world.settle(decision.chosen), review=auditor.review(decision))
            contexts = world.advance()
    return {name: [row[name] for row in rows] for name in rows[0]}


def measure(metric: MetricLearner, contexts: Floats, A: Floats) -> dict[str, float]:
    """How far `metric` is from A (r, d) on the pairs of `contexts` (k, d), and in the norm of its matrix.

    pair_error: mean of |d-hat - d|. matrix_error: ||G-hat - G||_F / ||G||_F. width, coverage: the mean width of the
    interval of a distance, and the share of distances inside.
    """
    G = A.T @ A
    pairs = np.triu_indices(len(contexts), 1)
    truth = MahalanobisAuditor(A).distances(contexts)[pairs]
    guess, lower, upper = (table[pairs] for table in metric.distances(contexts))
    inside = (lower - ROUNDING <= truth) & (truth <= upper + ROUNDING)
    return {
        "pair_error": float(np.mean(np.abs(guess - truth))),
        "matrix_error": float(np.linalg.norm(metric.matrix() - G) / max(float(np.linalg.norm(G)), 1e-12)),
        "width": float(np.mean(upper - lower)),
        "coverage": float(np.mean(inside)),
    }


# What the runs share.


def _reveal(reveal_at: int | None) -> dict[str, Any]:
    return {} if reveal_at is None else {"reveal_at": (reveal_at,)}


@contextmanager
def _unwarned() -> Iterator[None]:
    """Without the warnings about reviewers, who are counted instead."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentReviews)
        warnings.simplefilter("ignore", MisleadingReviewer)
        warnings.simplefilter("ignore", NoMetricFits)
        yield


def _curve(
    player: Policy,
    world: FairEnvironment,
    auditor: Auditor,
    truth: Truth,
    *,
    rounds: int,
    epsilon: float,
    seed: Seed,
    exact: bool = True,
) -> Columns:
    """The curve; `allowed` as in `promised_run`. exact: whether the reviewer is."""
    with _unwarned():
        account = play(player, world, auditor, rounds=rounds, epsilon=epsilon, seed=seed, truth=truth)
    return _with_ends(account.curve(), allowed=account.allowed if exact else float("nan"))


def _with_ends(columns: Columns, **ends: float) -> Columns:
    """The curve, and numbers of the whole run in every row."""
    return dict(columns) | {name: [value] * len(columns["round"]) for name, value in ends.items()}


def _learned_of_reviewers(player: Policy, panel: str | None) -> dict[str, float]:
    """Error rates and warnings at the end of a run; not a number where nothing is known."""
    reports: dict[str | None, ReviewerReport] = player.reviewers() if isinstance(player, FairBandit) else {}
    names: list[str | None] = [None] if panel is None else list(PANELS[panel])
    ends = {}
    for name in names:
        suffix, report = "" if name is None else f"_{name}", reports.get(name)
        ends[f"learned_rate{suffix}"] = float("nan") if report is None else report.error_rate
        ends[f"misleading{suffix}"] = float(report is not None and report.misleads)
    return ends


def _interview(bandit: FairBandit, world: FairEnvironment, questions: int, seed: np.random.Generator) -> Interview:
    """Ask an exact reviewer this many questions about candidates of the world."""
    of_people, of_questions = seed.spawn(2)
    people, auditor = _pool(world, of_people), MahalanobisAuditor(world.A)
    # enough=0: the interview continues to its last question, however little is left to learn.
    interview = Interview(bandit, people, enough=0.0, max_questions=questions, seed=of_questions)
    with _unwarned():
        for question in interview:
            distance = float(auditor.distances(people[list(question.pair)])[0, 1])
            interview.answer("unfair" if question.gap > distance else "acceptable")
    return interview


def _flags_left(bandit: FairBandit) -> float:
    return float("nan") if bandit.flags_left is None else float(bandit.flags_left)


def _pool(world: FairEnvironment, seed: Seed) -> Floats:
    """Candidates of the world for an interview, (POOL, d) or a few more."""
    shown = [world.reset(seed=seed)[0]]
    while sum(map(len, shown)) < POOL:
        shown.append(world.advance())
    return np.concatenate(shown)
