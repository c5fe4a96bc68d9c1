"""Adversaries: sources that watch the policy and choose the contexts that hurt it most."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_number, check_one_of, check_whole
from evenhand._internal.factorisations import svd
from evenhand.allocation import fair_distribution
from evenhand.bandit import FairBandit
from evenhand.environments.contexts import ContextSource, Decider, Scene
from evenhand.errors import InvalidInput
from evenhand.records.contexts import as_contexts

Hide = Literal["narrowest", "widest"]


class NextProbabilities(NamedTuple):
    """The probabilities (k,) a policy would play next, and its capacity."""

    probabilities: Floats
    capacity: float | None


def next_probabilities(policy: Decider, contexts: Floats) -> NextProbabilities:
    """The probabilities `policy` would play on checked `contexts` (k, d), without changing the policy.

    A FairBandit's parts are called directly, which changes nothing. Any other policy, and a FairBandit with its own
    `decide`, is copied and the copy decides: correct for any policy that can be copied, but slow.

    >>> bandit = FairBandit(2, seed=0)
    >>> play = next_probabilities(bandit, np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> play.probabilities.shape, play.capacity, bandit.rounds
    ((2,), 1, 0)
    """
    if isinstance(policy, FairBandit) and type(policy).decide is FairBandit.decide:
        rewards, distances = policy.reward.optimistic(contexts), policy.metric.playable_distances(contexts)
        return NextProbabilities(fair_distribution(rewards, distances, policy.capacity).probabilities, policy.capacity)
    decision = copy.deepcopy(policy).decide(contexts)
    return NextProbabilities(decision.probabilities, decision.capacity)


class Hunter(ContextSource):
    """Draws `n_proposals` context sets from `source` and shows the one with the greatest `harm` to the watched policy.

    While no policy is watched it shows the first. The number of draws does not depend on the policy, so the proposals
    of a round depend on the seed alone, and policies differ only in which of them they meet.
    """

    def __init__(self, source: ContextSource, *, n_proposals: int = 16) -> None:
        super().__init__(source.n_features)
        self.source = source
        self.n_proposals = check_whole("n_proposals", n_proposals, least=1)

    @abstractmethod
    def harm(self, contexts: Floats, play: NextProbabilities, theta: Floats, A: Floats) -> float:
        """The harm of playing these probabilities on contexts (k, d), by the truth."""

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d): the most harmful proposal; the first of equally harmful ones."""
        proposals = [as_contexts(self.source.draw(scene, rng), self.n_features) for _ in range(self.n_proposals)]
        if scene.policy is None:
            return proposals[0]
        if scene.theta is None or scene.A is None:
            raise InvalidInput("a hunter needs the truth: theta and A of the scene are missing")
        harms = [self.harm(x, next_probabilities(scene.policy, x), scene.theta, scene.A) for x in proposals]
        return proposals[int(np.argmax(harms))]


class RegretHunter(Hunter):
    """Harm: the regret of the round, <r-bar, p*> - <r-bar, p>.

    >>> from evenhand.environments.contexts import Sphere
    >>> equal = NextProbabilities(np.array([0.5, 0.5]), 1)
    >>> RegretHunter(Sphere(2)).harm(np.eye(2), equal, np.array([1.0, 0.0]), np.eye(2))
    0.5
    """

    def harm(self, contexts: Floats, play: NextProbabilities, theta: Floats, A: Floats) -> float:
        """The expected reward of the best fair probabilities minus that of these."""
        rewards = contexts @ theta
        best = fair_distribution(rewards, true_distances(contexts, A), play.capacity)
        return float(best.value - np.sum(rewards * play.probabilities))


class ViolationHunter(Hunter):
    """Harm: the sum by which gaps exceed true distances, over all pairs, if one does by more than `epsilon`.

    If none does, the set furthest from a violation is the most harmful: its verdicts teach the policy that people are
    more different than it thought, which brings the next violation. A hunter that showed the nearest set instead would
    teach caution, and would see fewer violations than random contexts make.

    >>> from evenhand.environments.contexts import Sphere
    >>> alike, play = np.zeros((1, 2)), NextProbabilities(np.array([0.75, 0.25]), 1)
    >>> ViolationHunter(Sphere(2)).harm(np.eye(2), play, np.zeros(2), alike)
    0.5
    """

    def __init__(self, source: ContextSource, *, n_proposals: int = 16, epsilon: float = 0.01) -> None:
        super().__init__(source, n_proposals=n_proposals)
        self.epsilon = check_number("epsilon", epsilon, least=0)

    def harm(self, contexts: Floats, play: NextProbabilities, theta: Floats, A: Floats) -> float:
        """The sum of all excesses if there is a violation; otherwise below zero, closer to it the safer the set."""
        p, upper = play.probabilities, np.triu_indices(len(contexts), 1)
        excess = (np.abs(p[:, None] - p[None, :]) - true_distances(contexts, A))[upper]
        worst = float(np.max(excess, initial=0.0 if len(excess) == 0 else -np.inf))
        if worst > self.epsilon:
            return float(np.sum(np.maximum(excess, 0.0)))
        return -1.0 / (1.0 + self.epsilon - worst)


class DirectionHider(ContextSource):
    """Contexts of `source` without certain directions of the true metric, each until its round.

    reveal_at: the round at which each hidden direction appears. hide: "narrowest" hides the directions of A's smallest
    singular values, where people differ least and a policy that has not seen them expects more: late violations;
    "widest" those of the largest: late regret only. At least one direction stays visible, so len(reveal_at) < d. The
    rest of a context is stretched to the norm it had.

    >>> from evenhand.environments.contexts import Sphere
    >>> hider = DirectionHider(Sphere(2), reveal_at=[100])
    >>> A = np.array([[1.0, 0.0], [0.0, 0.2]])
    >>> early, late = (hider.draw(Scene(5, t, A=A), np.random.default_rng(0)) for t in (99, 100))
    >>> bool(np.allclose(early[:, 1], 0.0)), bool(np.allclose(late[:, 1], 0.0))
    (True, False)
    """

    def __init__(self, source: ContextSource, *, reveal_at: Sequence[int] = (500,), hide: Hide = "narrowest") -> None:
        super().__init__(source.n_features)
        self.source = source
        self.reveal_at = tuple(check_whole("reveal_at", t, least=0) for t in reveal_at)
        if len(self.reveal_at) >= source.n_features:
            raise InvalidInput(
                f"reveal_at must have fewer rounds than the {source.n_features} features, got {len(self.reveal_at)}"
            )
        check_one_of("hide", hide, get_args(Hide))
        self.hide: Hide = hide

    def hidden(self, round: int, A: Floats) -> Floats:
        """The directions hidden in this round, orthonormal rows, (h, d)."""
        directions = svd(A, full_matrices=True).right
        ordered = directions[::-1] if self.hide == "narrowest" else directions
        return ordered[[i for i, t in enumerate(self.reveal_at) if round < t]]

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d), with nothing in the hidden directions."""
        if scene.A is None:
            raise InvalidInput("a hider of directions needs the truth: A of the scene is missing")
        contexts = self.source.draw(scene, rng)
        if scene.round >= max(self.reveal_at, default=0):
            return contexts
        hidden = self.hidden(scene.round, scene.A)
        left = contexts - contexts @ hidden.T @ hidden
        left -= left @ hidden.T @ hidden  # again, to remove what rounding left where little remains
        lengths = np.linalg.norm(left, axis=1, keepdims=True)
        wanted = np.linalg.norm(contexts, axis=1, keepdims=True)
        return np.asarray(left * (wanted / np.where(lengths > 1e-9, lengths, np.maximum(wanted, 1e-9))))


def true_distances(contexts: Floats, A: Floats) -> Floats:
    """||A (x_i - x_j)|| between the rows of `contexts` (k, d), (k, k)."""
    images = contexts @ A.T
    return np.asarray(np.linalg.norm(images[:, None, :] - images[None, :, :], axis=2))
