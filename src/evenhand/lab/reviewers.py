"""Reviewers of the laboratory, described by plain values, so that a case can name one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from evenhand import auditors
from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_one_of
from evenhand._internal.randomness import Seed, as_generator
from evenhand.auditors import Auditor, NoisyAuditor, Truth
from evenhand.auditors.partial import Choose
from evenhand.auditors.wrong import Aim
from evenhand.bandit import FairBandit
from evenhand.baselines import Policy
from evenhand.records.decision import Decision, Pair

TURNS_PER_ROUND = 1e-4
"""The rotating metric turns once in 10,000 rounds."""

ACROSS = 0.5
"""Distance across groups, as a multiple of the distance within a group."""

SOFTNESS = 0.1
"""How much the threshold of one who hesitates moves, in distance."""

NOISE = 0.1
"""The share of pairs that pure noise flags."""

FOLLOWS: Mapping[str, Callable[[Floats, Seed], Auditor]] = MappingProxyType(
    {
        "metric": lambda A, seed: auditors.MahalanobisAuditor(A),
        "wobble 2%": lambda A, seed: auditors.WobblingAuditor(A, 0.02, seed=seed),
        "wobble 10%": lambda A, seed: auditors.WobblingAuditor(A, 0.1, seed=seed),
        "moving threshold": lambda A, seed: auditors.SoftAuditor(auditors.MahalanobisAuditor(A), SOFTNESS, seed=seed),
        "l1 norm": lambda A, seed: auditors.NormAuditor(A, 1),
        "rotation": lambda A, seed: auditors.RotatingAuditor(A, TURNS_PER_ROUND),
        "groups": lambda A, seed: auditors.GroupAuditor(A, ACROSS * A, feature=0),
        "pure noise": lambda A, seed: auditors.PureNoiseAuditor(NOISE, seed=seed),
        "hostility": lambda A, seed: auditors.HostileAuditor(seed=seed),
    }
)
"""What a reviewer follows: a distance made from the world's A, or none."""

SHOWN = 2
"""Reviewed pairs of a decision where not all are, unless the name says three."""

SHOWS: Mapping[str, Callable[[Auditor, Policy | None, Seed], Auditor]] = MappingProxyType(
    {
        "everything": lambda auditor, policy, seed: auditor,
        "proposed pairs": lambda auditor, policy, seed: auditors.PartialAuditor(
            auditor, SHOWN, choose=_proposals(policy), seed=seed
        ),
        "three proposed pairs": lambda auditor, policy, seed: auditors.PartialAuditor(
            auditor, 3, choose=_proposals(policy), seed=seed
        ),
        "random pairs": lambda auditor, policy, seed: auditors.PartialAuditor(auditor, SHOWN, seed=seed),
        "one report": lambda auditor, policy, seed: auditors.OneReportAuditor(auditor),
        "one bit": lambda auditor, policy, seed: auditors.OneBitAuditor(auditor),
    }
)
"""What a review contains: all pairs, some that the bandit proposes, two drawn at random, the worst pair, one bit."""

ERRS = ("judging", "answering")
"""Where errors enter: in the judgement of each pair, before the reviewer selects what to report, or in the report."""

PANELS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "different": {"A": 0.02, "B": 0.1, "C": 0.3},
        "most mislead": {"A": 0.05, "B": 0.6, "C": 0.6, "D": 0.95},
        "most toss coins": {"A": 0.05, "B": 0.5, "C": 0.5, "D": 0.5},
    }
)
"""Members by name and their error rates; one of them, drawn at random, answers in each round."""


@dataclass(frozen=True)
class ReviewerSetting:
    """A simulated reviewer in plain values; by default exact, complete and prompt.

    follows: one of FOLLOWS. shows: one of SHOWS. wrong: the probability with which a verdict, or a bit, is flipped.
    errs: one of ERRS, where that happens. It matters where a reviewer selects by judgement: one who misjudges a tenth
    of 45 pairs and reports the worst reports an error in nearly every round. panel: one of PANELS, who then answer
    instead. lies, aim, lies_per_decision: those of AdversarialAuditor. late: every review is 0 to this many rounds
    late, at random.

    >>> setting = ReviewerSetting(shows="random pairs", wrong=0.1)
    >>> auditor, truth = setting.made(np.eye(3), None, seed=0)
    >>> type(auditor).__name__, type(truth).__name__
    ('PartialAuditor', 'MahalanobisAuditor')
    """

    follows: str = "metric"
    wrong: float = 0.0
    shows: str = "everything"
    errs: str = "judging"
    panel: str | None = None
    lies: int = 0
    aim: Aim = "confusion"
    lies_per_decision: int = 1
    late: int = 0

    def __post_init__(self) -> None:
        for name, options in (("follows", FOLLOWS), ("shows", SHOWS), ("errs", ERRS), ("panel", [*PANELS, None])):
            check_one_of(name, getattr(self, name), options)

    @property
    def is_exact(self) -> bool:
        """Whether all answers are right by a metric and prompt: then a promise of `flags_left` holds."""
        return self.follows == "metric" and not (self.wrong or self.panel or self.lies or self.late)

    def made(self, A: Floats, policy: Policy | None, seed: Seed) -> tuple[Auditor, Truth]:
        """The reviewer of a world with the metric A (r, d), and the truth: the followed distance, else the world's.

        policy: makes the proposals; one that is no FairBandit makes none. Each source of randomness has its own
        stream, so that reviewers who differ in one setting are alike in all others.
        """
        of_distance, of_errors, of_pairs, of_lies, of_panel, of_delay = as_generator(seed).spawn(6)
        exact = FOLLOWS[self.follows](A, of_distance)
        truth = exact if isinstance(exact, Truth) else auditors.MahalanobisAuditor(A)
        auditor = exact if self.panel is None else _panel(PANELS[self.panel], exact, of_errors, of_panel)
        if self.wrong and self.errs == "judging":
            auditor = NoisyAuditor(auditor, self.wrong, seed=of_errors)
        auditor = SHOWS[self.shows](auditor, policy, of_pairs)
        if self.wrong and self.errs == "answering":
            auditor = NoisyAuditor(auditor, self.wrong, seed=of_errors)
        if self.lies:
            burst = self.lies_per_decision
            auditor = auditors.AdversarialAuditor(auditor, self.lies, self.aim, per_decision=burst, seed=of_lies)
        if self.late:
            auditor = auditors.DelayedAuditor(auditor, self.late, at_random=True, seed=of_delay)
        return auditor, truth


def _panel(rates: Mapping[str, float], exact: Auditor, of_errors: np.random.Generator, of_panel: Seed) -> Auditor:
    streams = of_errors.spawn(len(rates))
    members = {
        name: NoisyAuditor(exact, rate, seed=own) for (name, rate), own in zip(rates.items(), streams, strict=True)
    }
    return auditors.PanelAuditor(members, seed=of_panel)


def _proposals(policy: Policy | None) -> Choose | None:
    """The pairs that the bandit proposes; for any other policy, pairs are drawn."""
    if not isinstance(policy, FairBandit):
        return None

    def choose(decision: Decision, n: int) -> list[Pair]:
        return [proposal.pair for proposal in policy.pairs_to_review(decision, n)]

    return choose
