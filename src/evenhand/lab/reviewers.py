"""Reviewers of the laboratory, each said in plain values, so that a case can name one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.randomness import Seed, as_generator
from evenhand.auditors import (
    AdversarialAuditor,
    Auditor,
    DelayedAuditor,
    GroupAuditor,
    HostileAuditor,
    MahalanobisAuditor,
    NoisyAuditor,
    NormAuditor,
    OneBitAuditor,
    OneReportAuditor,
    PanelAuditor,
    PartialAuditor,
    PureNoiseAuditor,
    RotatingAuditor,
    Truth,
    WobblingAuditor,
)
from evenhand.auditors.adversarial import Aim
from evenhand.auditors.partial import Choose
from evenhand.bandit import FairBandit
from evenhand.baselines import Policy
from evenhand.errors import InvalidInput
from evenhand.records.decision import Decision, Pair

Matrix = NDArray[np.float64]

TURNS_PER_ROUND = 1e-4
"""The rotating metric turns once in 10,000 rounds."""

ACROSS = 0.5
"""Two of different groups are this much as far apart as two of one group who differ as much."""

NOISE = 0.1
"""The share of pairs that pure noise flags."""

FOLLOWS: Mapping[str, Callable[[Matrix, Seed], Auditor]] = MappingProxyType(
    {
        "metric": lambda A, seed: MahalanobisAuditor(A),
        "wobble 2%": lambda A, seed: WobblingAuditor(A, 0.02, seed=seed),
        "wobble 10%": lambda A, seed: WobblingAuditor(A, 0.1, seed=seed),
        "l1 norm": lambda A, seed: NormAuditor(A, 1),
        "rotation": lambda A, seed: RotatingAuditor(A, TURNS_PER_ROUND),
        "groups": lambda A, seed: GroupAuditor(A, ACROSS * A, feature=0),
        "pure noise": lambda A, seed: PureNoiseAuditor(NOISE, seed=seed),
        "hostility": lambda A, seed: HostileAuditor(seed=seed),
    }
)
"""What a reviewer goes by: a distance made from the world's A, or none."""

SHOWN = 2
"""Pairs of a decision that are looked at where not all are."""

SHOWS = ("everything", "proposed pairs", "random pairs", "one report", "one bit")
"""What she says of a decision: of all pairs, of two that the bandit proposes, of two drawn by lot, the worst, a bit."""

ERRS = ("judging", "answering")
"""Where errors come in: in what she thinks of each pair, before she picks what to say, or in what she says."""

PANELS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "different": {"A": 0.02, "B": 0.1, "C": 0.3},
        "most mislead": {"A": 0.05, "B": 0.6, "C": 0.6, "D": 0.95},
        "most toss coins": {"A": 0.05, "B": 0.5, "C": 0.5, "D": 0.5},
    }
)
"""Members by name, and how often each is wrong; one of them, drawn by lot, answers in each round."""


class Reviewed(NamedTuple):
    """Whom a policy hears, and whom it is held to."""

    auditor: Auditor
    truth: Truth


@dataclass(frozen=True)
class ReviewerSetting:
    """A simulated reviewer in plain values; unless said otherwise she is exact, complete and prompt.

    follows: one of FOLLOWS. shows: one of SHOWS. wrong: how often a verdict, or a bit, is turned into its opposite.
    errs: one of ERRS, where that happens. It makes a difference to whoever picks by what she thinks: one who misjudges
    a tenth of 45 pairs and reports the worst reports a slip in nearly every round. panel: one of PANELS, who then
    answer in her place. lies, aim, lies_per_decision: those of AdversarialAuditor. late: every review comes in 0 to so
    many rounds later, by lot.

    >>> setting = ReviewerSetting(shows="random pairs", wrong=0.1)
    >>> heard, truth = setting.made(np.eye(3), None, seed=0)
    >>> type(heard).__name__, type(truth).__name__
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
        allowed: Collection[str]
        for name, allowed in (("follows", FOLLOWS), ("shows", SHOWS), ("errs", ERRS), ("panel", [*PANELS])):
            value = getattr(self, name)
            if value not in allowed and not (name == "panel" and value is None):
                raise InvalidInput(f"{name} is {value!r}; allowed are {', '.join(map(repr, allowed))}")

    def made(self, A: Matrix, policy: Policy | None, seed: Seed) -> Reviewed:
        """The reviewer of a world with the metric A (r, d), and who knows the truth: the world's, unless she does.

        policy: who is asked for proposals; one that is no FairBandit has none. Each source of chance has a stream of
        its own, so that reviewers who differ in one thing are alike in all else.
        """
        of_distance, of_errors, of_pairs, of_lies, of_panel, of_delay = as_generator(seed).spawn(6)
        exact = FOLLOWS[self.follows](A, of_distance)
        truth = exact if isinstance(exact, Truth) else MahalanobisAuditor(A)
        auditor = exact if self.panel is None else _panel(PANELS[self.panel], exact, of_errors, of_panel)
        if self.wrong and self.errs == "judging":
            auditor = NoisyAuditor(auditor, self.wrong, seed=of_errors)
        auditor = self._showing(auditor, policy, of_pairs)
        if self.wrong and self.errs == "answering":
            auditor = NoisyAuditor(auditor, self.wrong, seed=of_errors)
        if self.lies:
            auditor = AdversarialAuditor(
                auditor, self.lies, self.aim, per_decision=self.lies_per_decision, seed=of_lies
            )
        if self.late:
            auditor = DelayedAuditor(auditor, self.late, at_random=True, seed=of_delay)
        return Reviewed(auditor, truth)

    def _showing(self, auditor: Auditor, policy: Policy | None, seed: Seed) -> Auditor:
        match self.shows:
            case "proposed pairs":
                return PartialAuditor(auditor, SHOWN, choose=_proposals(policy), seed=seed)
            case "random pairs":
                return PartialAuditor(auditor, SHOWN, seed=seed)
            case "one report":
                return OneReportAuditor(auditor)
            case "one bit":
                return OneBitAuditor(auditor)
            case _:
                return auditor


def _panel(rates: Mapping[str, float], exact: Auditor, of_errors: np.random.Generator, of_panel: Seed) -> PanelAuditor:
    members = {
        name: NoisyAuditor(exact, rate, seed=own)
        for (name, rate), own in zip(rates.items(), of_errors.spawn(len(rates)), strict=True)
    }
    return PanelAuditor(members, seed=of_panel)


def _proposals(policy: Policy | None) -> Choose | None:
    """What the bandit would have looked at; with anybody else, pairs are drawn."""
    if not isinstance(policy, FairBandit):
        return None

    def choose(decision: Decision, n: int) -> list[Pair]:
        return [proposal.pair for proposal in policy.pairs_to_review(decision, n)]

    return choose
