"""Lottery: a FairBandit in all but the odds, which each baseline chooses in its own way."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.archive import read_archive, write_archive
from evenhand.allocation import draw, fair_distribution
from evenhand.bandit.fair_bandit import FORMAT, FairBandit
from evenhand.records.contexts import as_contexts
from evenhand.records.decision import Decision, Pair
from evenhand.records.signature import signed

Floats = NDArray[np.float64]


class Odds(NamedTuple):
    """The odds to play among k candidates, and why."""

    probabilities: Floats
    """(k,)."""
    rewards: Floats
    """(k,), the rewards the odds were chosen for."""
    tight_pairs: tuple[Pair, ...] = ()
    worst_residual: float | None = None


def hold(odds: Odds, contexts: Floats, *, round: int, capacity: int | None, rng: np.random.Generator) -> Decision:
    """Draw the candidates of a round with these odds; the decision has no id yet."""
    return Decision(
        id="",
        round=round,
        contexts=contexts,
        probabilities=odds.probabilities,
        chosen=draw(odds.probabilities, capacity, rng),
        capacity=capacity,
        optimistic_rewards=odds.rewards,
        tight_pairs=odds.tight_pairs,
        worst_residual=odds.worst_residual,
    )


class Lottery(FairBandit, ABC):
    """Learns, seals and saves as FairBandit does; a subclass says which odds are played."""

    _settings: ClassVar[tuple[str, ...]] = ()
    """The attributes that a saved policy needs besides those of every FairBandit."""

    @abstractmethod
    def odds(self, contexts: Floats) -> Odds:
        """The odds for the candidates with these checked contexts (k, d)."""

    def decide(self, contexts: Any) -> Decision:
        """Choose among the candidates with these contexts (k, d)."""
        table = as_contexts(contexts, self.n_features)
        decision = hold(self.odds(table), table, round=self.rounds, capacity=self.capacity, rng=self._rng)
        self.rounds += 1
        return signed(decision, self._key)

    def fair_odds(self, contexts: Floats, rewards: Floats) -> Odds:
        """The best odds for these rewards (k,) that the metric, as it is, allows."""
        best = fair_distribution(rewards, self.metric.playable_distances(contexts), self.capacity)
        return Odds(best.probabilities, rewards, best.tight_pairs, best.worst_residual)

    # Saving: as FairBandit, under the policy's own name, so that no file is read as another policy.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of the policy to a file."""
        write_archive(path, kind=type(self).__name__, version=FORMAT, content=self.state())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The policy that was saved: it goes on as if it had never stopped, to the bit."""
        return cls.from_state(read_archive(path, kind=cls.__name__, version=FORMAT))

    def state(self) -> dict[str, Any]:
        """All that the policy is, in arrays, numbers, strings and dicts of them."""
        return {**super().state(), "settings": {name: getattr(self, name) for name in self._settings}}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The policy whose `state` this was, to the bit."""
        policy = cls.__new__(cls)
        vars(policy).update(vars(FairBandit.from_state(state)))
        vars(policy).update({name: state["settings"][name] for name in cls._settings})
        return policy
