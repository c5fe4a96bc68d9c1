"""Policies that choose the probabilities in their own way: the protocol, the base class, and equal probabilities."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from evenhand._internal.archive import load_archive, write_archive
from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_whole
from evenhand._internal.randomness import Seed, as_generator
from evenhand.allocation import draw, fair_distribution
from evenhand.bandit.fair_bandit import FORMAT, FairBandit
from evenhand.errors import InvalidInput
from evenhand.metrics import Learned
from evenhand.records.contexts import as_contexts
from evenhand.records.decision import Decision, Pair, Review


class Policy(Protocol):
    """Decides among contexts and learns from outcomes and reviews: FairBandit, and every baseline."""

    def decide(self, contexts: Any) -> Decision:
        """Choose among the candidates with these contexts (k, d)."""
        ...

    def learn(
        self, decision: Decision, *, rewards: Mapping[int, float] | None = None, review: Review | None = None
    ) -> Learned:
        """Learn from outcomes and a review of a decision."""
        ...


class Play(NamedTuple):
    """The probabilities to play among k candidates, and what they were chosen for."""

    probabilities: Floats
    """(k,)."""
    rewards: Floats
    """(k,), the rewards that the probabilities maximise."""
    tight_pairs: tuple[Pair, ...] = ()
    worst_residual: float | None = None


def drawn(play: Play, contexts: Floats, *, round: int, capacity: float | None, rng: np.random.Generator) -> Decision:
    """The decision of a round with candidates drawn with these probabilities; it has no id yet."""
    return Decision(
        id="",
        round=round,
        contexts=contexts,
        probabilities=play.probabilities,
        chosen=draw(play.probabilities, capacity, rng),
        capacity=capacity,
        optimistic_rewards=play.rewards,
        tight_pairs=play.tight_pairs,
        worst_residual=play.worst_residual,
    )


class Lottery(FairBandit, ABC):
    """Learns, signs and saves as FairBandit does; a subclass chooses the probabilities."""

    _settings: ClassVar[tuple[str, ...]] = ()
    """Attributes that a saved policy needs besides those of FairBandit."""

    @abstractmethod
    def play(self, contexts: Floats) -> Play:
        """The probabilities for the candidates with these checked contexts (k, d)."""

    def decide(self, contexts: Any, *, lower: Any = None, upper: Any = None) -> Decision:
        """Choose among the candidates with these contexts (k, d); baselines take no floors and ceilings."""
        if lower is not None or upper is not None:
            raise InvalidInput(f"lower and upper must be None: {type(self).__name__} takes no floors and ceilings")
        table = as_contexts(contexts, self.n_features)
        decision = drawn(self.play(table), table, round=self.rounds, capacity=self.capacity, rng=self._rng)
        self.rounds += 1
        return decision.signed(self._key)

    def best_fair(self, contexts: Floats, rewards: Floats) -> Play:
        """The best probabilities for these rewards (k,) under the current metric."""
        best = fair_distribution(rewards, self.metric.playable_distances(contexts), self.capacity)
        return Play(best.probabilities, rewards, best.tight_pairs, best.worst_residual)

    # Saving: as FairBandit, under the policy's own name, so that no file is read as another policy.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole policy to a file."""
        write_archive(path, kind=type(self).__name__, version=FORMAT, content=self.state())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The saved policy: it continues as if it had never stopped, to the bit."""
        return load_archive(path, kind=cls.__name__, version=FORMAT, restore=cls.from_state)

    def state(self) -> dict[str, Any]:
        """The whole policy as arrays, numbers, strings and dicts of them."""
        return {**super().state(), "settings": {name: getattr(self, name) for name in self._settings}}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The policy with this `state`, to the bit."""
        policy = cls.__new__(cls)
        vars(policy).update(vars(FairBandit.from_state(state)))
        vars(policy).update({name: state["settings"][name] for name in cls._settings})
        return policy


class EqualProbabilities:
    """Plays p_i = min(1, capacity / k) for all; capacity None chooses everybody.

    The trivial answer to individual fairness (Dwork, Hardt, Pitassi, Reingold, Zemel 2012): a constant lottery is
    fair under every metric, and blind to merit.

    >>> EqualProbabilities(capacity=1, seed=0).decide([[1.0], [0.5]]).probabilities.tolist()
    [0.5, 0.5]
    """

    def __init__(self, *, capacity: int | None = 1, seed: Seed = None) -> None:
        self.capacity = capacity
        self.rounds = 0
        self._rng = as_generator(seed)

    def decide(self, contexts: Any) -> Decision:
        """The same probability for each of the candidates (k, d)."""
        table = as_contexts(contexts)
        k = len(table)
        equal = Play(np.full(k, 1.0 if self.capacity is None else min(1.0, self.capacity / k)), np.zeros(k))
        decision = drawn(equal, table, round=self.rounds, capacity=self.capacity, rng=self._rng)
        self.rounds += 1
        return replace(decision, id=f"equal-probabilities-{decision.round}")

    def learn(
        self, decision: Decision, *, rewards: Mapping[int, float] | None = None, review: Review | None = None
    ) -> Learned:
        """Nothing is learned."""
        return Learned()


def phase_length(name: str, length: int | None, horizon: int | None) -> int:
    """The length of a first phase of learning, or T^(2/3) rounded up for a horizon of T rounds; exactly one is set.

    T^(2/3) balances n rounds lost to learning against an error of order 1/sqrt(n) in each of the T that follow.

    >>> phase_length("explore_rounds", None, 1000)
    100
    """
    if (length is None) == (horizon is None):
        raise InvalidInput(f"exactly one of {name} and horizon must be set, got {length!r} and {horizon!r}")
    if length is None:
        # A cube root is not exact: 1000^(2/3) is 99.99..., 64^(2/3) is 15.99...
        return math.ceil(round(math.pow(check_whole("horizon", horizon, least=1), 2 / 3), 9))
    return check_whole(name, length, least=1)
