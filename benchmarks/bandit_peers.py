"""Bandit libraries that play rounds, each in the use that suits the work best.

Everybody starts from numpy arrays, as evenhand does: bringing them into the form a library wants is a part of using it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measurement import Floats
from benchmarks.peers import load
from benchmarks.players import Alone, NumpyLinUCB, Player

FLOOR_GOAL = 1 / 8
"""Our round lasts at most eight rounds of LinUCB in bare numpy, 1.15 times the seven that it lasted in version 0.1.

Bare numpy is always installed and hardly ever changes: of all peers it shows best whether a round has become slower.
"""

VOWPAL = "--cb_explore_adf --epsilon 0.05 --random_seed 1 --quiet"


class VowpalText(Alone):
    """Vowpal Wabbit as its tutorial shows it: text to predict, the text with a label to learn."""

    def __init__(self, k: int, d: int) -> None:
        self._workspace = load("vowpalwabbit").Workspace(VOWPAL)
        self._format = "\n".join(["| " + " ".join(f"{feature}:%.6g" for feature in range(d))] * k)
        self._rng = random.Random(0)

    def choose(self, contexts: Floats) -> int | None:
        """Predict, and draw from the prediction."""
        self._text = self._format % tuple(contexts.ravel().tolist())
        probabilities = self._workspace.predict(self._text)
        self._chosen = drawn(probabilities, self._rng)
        self._probability = probabilities[self._chosen]
        return self._chosen

    def learn(self, reward: float | None) -> None:
        """Learn from the outcome."""
        lines = self._text.split("\n")
        lines[self._chosen] = f"0:{-(reward or 0.0)}:{self._probability} {lines[self._chosen]}"
        self._workspace.learn("\n".join(lines))


class VowpalExamples(VowpalText):
    """Vowpal Wabbit at its fastest: the text is read once, and the label put on the examples it became."""

    def choose(self, contexts: Floats) -> int | None:
        """Predict, and draw from the prediction."""
        self._examples = self._workspace.parse(self._format % tuple(contexts.ravel().tolist()))
        probabilities = self._workspace.predict(self._examples)
        self._chosen = drawn(probabilities, self._rng)
        self._probability = probabilities[self._chosen]
        return self._chosen

    def learn(self, reward: float | None) -> None:
        """Learn from the outcome."""
        self._examples[self._chosen].set_label_string(f"0:{-(reward or 0.0)}:{self._probability}")
        self._workspace.learn(self._examples)
        self._workspace.finish_example(self._examples)


def drawn(probabilities: list[float], rng: random.Random) -> int:
    """A place, drawn with these probabilities."""
    left = rng.random()
    for place, chance in enumerate(probabilities):
        left -= chance
        if left < 0.0:
            return place
    return len(probabilities) - 1


class Coba(Alone):
    """A learner of Coba's; candidates are actions with features, there is no context besides."""

    def __init__(self, learner: Any) -> None:
        self._learner = learner

    def choose(self, contexts: Floats) -> int | None:
        """Predict."""
        actions = [tuple(row) for row in contexts.tolist()]
        self._action, self._probability, *rest = self._learner.predict(None, actions)
        self._more = rest[0] if rest else {}
        return actions.index(self._action)

    def learn(self, reward: float | None) -> None:
        """Learn from the outcome."""
        self._learner.learn(None, self._action, reward, self._probability, **self._more)


class MabwiserArms(Alone):
    """MABWiser's LinUCB as its users know it: k arms with a model each, one context for all, the first candidate's."""

    def __init__(self, k: int, d: int) -> None:
        mab = load("mabwiser.mab")
        self._mab = mab.MAB(list(range(k)), mab.LearningPolicy.LinUCB(alpha=1.0), seed=1)
        self._mab.fit([0], [0.0], np.zeros((1, d)))

    def choose(self, contexts: Floats) -> int | None:
        """Predict."""
        self._context = contexts[:1]
        self._arm = int(self._mab.predict(self._context))
        return self._arm

    def learn(self, reward: float | None) -> None:
        """Learn from the outcome."""
        self._mab.partial_fit([self._arm], [reward], self._context)


class MabwiserShared(Alone):
    """MABWiser's LinUCB at its fastest: one arm, whose expectations for all candidates' contexts are compared."""

    def __init__(self, d: int) -> None:
        mab = load("mabwiser.mab")
        self._mab = mab.MAB([0], mab.LearningPolicy.LinUCB(alpha=1.0), seed=1)
        self._mab.fit([0], [0.0], np.zeros((1, d)))

    def choose(self, contexts: Floats) -> int | None:
        """The candidate with the highest expectation."""
        found = self._mab.predict_expectations(contexts)
        chosen = max(range(len(found)), key=lambda place: found[place][0])
        self._context = contexts[chosen : chosen + 1]
        return chosen

    def learn(self, reward: float | None) -> None:
        """Learn from the outcome."""
        self._mab.partial_fit([0], [reward], self._context)


class River(Alone):
    """River's LinUCB: k arms with a model each, one context for all, the first candidate's, as a dict."""

    def __init__(self, k: int) -> None:
        self._policy, self._arms = load("river.bandit").LinUCBDisjoint(seed=1), list(range(k))

    def choose(self, contexts: Floats) -> int | None:
        """Pull."""
        self._context = dict(enumerate(contexts[0].tolist()))
        self._arm = int(self._policy.pull(self._arms, context=self._context))
        return self._arm

    def learn(self, reward: float | None) -> None:
        """Learn from the outcome."""
        self._policy.update(self._arm, self._context, reward)


@dataclass(frozen=True)
class Entry:
    """A peer's name, the module it needs, how to make it for k candidates of d features, and the goal against it."""

    name: str
    module: str
    make: Callable[[int, int], Player]
    goal: float | None = None


def _coba_linucb() -> Player:
    return Coba(load("coba").LinUCBLearner(features=["a"]))


def _coba_vowpal() -> Player:
    return Coba(load("coba").VowpalLearner(VOWPAL))


ENTRIES = (
    Entry("Vowpal Wabbit, text", "vowpalwabbit", VowpalText, goal=1.0),
    Entry("Vowpal Wabbit, examples (its fastest)", "vowpalwabbit", VowpalExamples, goal=1.0),
    Entry("Coba, LinUCB", "coba", lambda k, d: _coba_linucb()),
    Entry("Coba, Vowpal Wabbit", "coba", lambda k, d: _coba_vowpal()),
    Entry("MABWiser LinUCB, k arms", "mabwiser", MabwiserArms, goal=3.0),
    Entry("MABWiser LinUCB, one arm (its fastest)", "mabwiser", lambda k, d: MabwiserShared(d), goal=3.0),
    Entry("River LinUCBDisjoint", "river", lambda k, d: River(k)),
    Entry("LinUCB in bare numpy", "numpy", lambda k, d: NumpyLinUCB(d), goal=FLOOR_GOAL),
)
