"""The bandit feedback of Open Bandit Pipeline (obp), in: a log to warm up a bandit with, or a desk."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.checks import check_number_or_none, check_whole
from evenhand.bandit import FairBandit
from evenhand.errors import InvalidInput
from evenhand.records.contexts import as_contexts
from evenhand.records.decision import PROBABILITY_TOLERANCE

NEEDED = ("n_rounds", "n_actions", "context", "action", "reward")
BATCH = 1000

Encode = Callable[[Floats, Floats], Floats]
"""The context of a round (d,) and of all actions (n_actions, e) to contexts of candidates (n_actions, f)."""


def products(context: Floats, actions: Floats) -> Floats:
    """The features of each action, and their products with those of the round, (n_actions, e + e d).

    >>> products(np.array([2.0]), np.eye(2)).tolist()
    [[1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 2.0]]
    """
    crossed = actions[:, :, None] * context[None, None, :]
    return np.hstack([actions, crossed.reshape(len(actions), -1)])


class ObpLog:
    """A log in obp's format: in every row one of all actions was chosen.

    feedback: the dict of `obtain_batch_bandit_feedback`; "action_context" may be missing, then actions are told apart
    by their number alone. encode: makes the contexts of the candidates, by default `products`. norm: contexts are
    divided by it; None takes the longest.

    >>> log = ObpLog({"n_rounds": 2, "n_actions": 2, "context": np.array([[0.5], [1.0]]),
    ...               "action": np.array([0, 1]), "reward": np.array([1.0, 0.0]), "pscore": np.array([0.5, 0.5])})
    >>> log.contexts(1).shape, round(log.norm, 3)
    ((2, 4), 1.414)
    """

    def __init__(self, feedback: Mapping[str, Any], *, encode: Encode = products, norm: float | None = None) -> None:
        absent = [name for name in NEEDED if name not in feedback]
        if absent:
            raise InvalidInput(f"a bandit feedback must have {', '.join(NEEDED)}, got no {', '.join(absent)}")
        self.n_rounds = check_whole("n_rounds", feedback["n_rounds"], least=1)
        self.n_actions = check_whole("n_actions", feedback["n_actions"], least=1)
        self._context = _array(feedback, "context", (self.n_rounds, None))
        self.action = _numbers(feedback, "action", self.n_rounds, self.n_actions)
        self.reward = _array(feedback, "reward", (self.n_rounds,))
        self.pscore = _array(feedback, "pscore", (self.n_rounds,)) if feedback.get("pscore") is not None else None
        self.pi_b = feedback.get("pi_b")
        if self.pi_b is not None:
            known = _array(feedback, "pi_b", (self.n_rounds, self.n_actions, None))
            self.pi_b = np.clip(known, 0.0, 1.0)
            if np.any(np.abs(known - self.pi_b) > PROBABILITY_TOLERANCE):
                raise InvalidInput(f"pi_b must be from 0 to 1, got {known.min():g} to {known.max():g}")
        places = None if self.pi_b is None else self.pi_b.shape[2]
        self.position: Indices = np.zeros(self.n_rounds, dtype=np.int64)
        if feedback.get("position") is not None:
            self.position = _numbers(feedback, "position", self.n_rounds, places)
        actions = feedback.get("action_context")
        self._actions = np.eye(self.n_actions) if actions is None else _array(feedback, "action_context", (None, None))
        if len(self._actions) != self.n_actions:
            raise InvalidInput(f"action_context must be of {self.n_actions} actions, got {len(self._actions)}")
        self._encode = encode
        given = check_number_or_none("norm", norm, above=0)
        self.norm = self._longest() if given is None else given

    @property
    def n_features(self) -> int:
        """The length of a context."""
        return int(self.contexts(0).shape[1])

    def contexts(self, row: int) -> Floats:
        """The contexts of all actions in a row, (n_actions, f), of norm <= 1."""
        return as_contexts(self._encode(self._context[row], self._actions) / self.norm)

    def _longest(self) -> float:
        longest = 0.0
        for context in self._context:
            rows = self._encode(context, self._actions)
            longest = max(longest, float(np.max(np.hypot.reduce(rows, axis=1), initial=0.0)))
        if not math.isfinite(longest) or longest == 0.0:
            raise InvalidInput(f"contexts must have features that are finite and not all 0, got a norm of {longest}")
        return longest * (1.0 + 1e-12)

    def teach(self, bandit: FairBandit) -> int:
        """Let the reward model of a bandit learn every outcome, and say how many; such a log knows no fairness."""
        if bandit.n_features != self.n_features:
            raise InvalidInput(f"the bandit must have {self.n_features} features as the log, got {bandit.n_features}")
        model = bandit.reward.copied()
        for start in range(0, self.n_rounds, BATCH):
            rows = range(start, min(start + BATCH, self.n_rounds))
            chosen = np.array([self.contexts(row)[self.action[row]] for row in rows])
            model.learn(chosen, self.reward[rows.start : rows.stop])
        bandit.reward = model
        return self.n_rounds

    def to_past(self) -> Iterator[dict[str, Any]]:
        """Records of past decisions for `evenhand ledger import`; with probabilities if the log has "pi_b"."""
        for row in range(self.n_rounds):
            contexts = self.contexts(row).tolist()
            known = {} if self.pi_b is None else {"probabilities": self.pi_b[row, :, self.position[row]].tolist()}
            yield {
                "candidates": [{"id": str(i), "context": context} for i, context in enumerate(contexts)],
                "rewards": {str(self.action[row]): float(self.reward[row])},
                "source": {"obp": row},
                **known,
            }


def _numbers(feedback: Mapping[str, Any], name: str, n: int, below: int | None) -> Indices:
    """An array (n,) of whole numbers >= 0, and less than `below`."""
    array = _array(feedback, name, (n,))
    wrong = (array != np.floor(array)) | (array < 0) | (array >= (math.inf if below is None else below))
    if np.any(wrong):
        limits = ">= 0" if below is None else f"from 0 to {below - 1}"
        raise InvalidInput(f"{name} must be whole numbers {limits}, got {array[wrong][0]:g}")
    return array.astype(np.int64)


def _array(feedback: Mapping[str, Any], name: str, shape: tuple[int | None, ...]) -> Floats:
    """An array of finite numbers of this shape, None for any length."""
    try:
        array = np.asarray(feedback[name], dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be an array of numbers, got {type(feedback[name]).__name__}") from None
    fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    if not fits:
        expected = ", ".join("any" if n is None else str(n) for n in shape)
        raise InvalidInput(f"{name} must have shape ({expected}), got {array.shape}")
    if not np.all(np.isfinite(array)):
        raise InvalidInput(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    return array
