# %% [markdown]
# # Add a learner
#
# A metric learner turns verdicts into squared distances. This tutorial writes a small one, plays it, and shows how to
# run the contract suite that the learners of evenhand pass.

# %%
import numpy as np

import evenhand as eh
from evenhand.metrics import BayesPoint, Learned, MetricLearner, Pairs, Verdicts

# %% [markdown]
# ## The smallest learner
#
# It keeps one number: a gap that nobody has flagged yet. `estimate` returns squared distances for pairs, `ends` what
# they are at least and at most, and `learn` updates from verdicts.


# %%
class SmallestGap(MetricLearner):
    """Plays one distance for all pairs: nine tenths of the smallest gap that was flagged."""

    def __init__(self, n_features: int, smallest: float = 1.0) -> None:
        super().__init__(n_features)
        self.smallest = smallest

    def estimate(self, pairs: Pairs) -> np.ndarray:
        return np.full(len(pairs), self.smallest**2)

    def ends(self, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(len(pairs)), np.full(len(pairs), self.smallest**2)

    def learn(self, verdicts: Verdicts) -> Learned:
        flagged = verdicts.gaps[verdicts.unfair]
        if len(flagged):
            self.smallest = min(self.smallest, 0.9 * float(flagged.min()))
        return Learned(len(verdicts))

    def matrix(self) -> np.ndarray:
        return np.eye(self.n_features) * self.smallest**2

    def state(self) -> dict:
        return {"n_features": self.n_features, "smallest": self.smallest}

    @classmethod
    def from_state(cls, state: dict) -> "SmallestGap":
        return cls(**state)


# %% [markdown]
# ## Play it
#
# Compare it with `BayesPoint` on the same rounds: being fair is easy if you treat everybody alike; being fair and
# rewarding takes a metric.

# %%
A, theta = np.diag([0.6, 0.1]), np.array([0.2, 0.7])


def play(metric: MetricLearner, rounds: int = 150) -> tuple[int, float]:
    rng, reviewer = np.random.default_rng(0), eh.auditors.MahalanobisAuditor(A)
    bandit = eh.FairBandit(2, metric=metric, reward=eh.rewards.KnownReward(theta), seed=0)
    unfair, gained = 0, 0.0
    for _ in range(rounds):
        x = rng.normal(size=(4, 2))
        decision = bandit.decide(x / np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True)))
        review = reviewer.review(decision)
        bandit.learn(decision, review=review)
        unfair += len(review.unfair)
        gained += float(decision.probabilities @ (decision.contexts @ theta)) / rounds
    return unfair, gained


for metric in (SmallestGap(2), BayesPoint(2)):
    unfair, gained = play(metric)
    print(f"{type(metric).__name__:12s} {unfair:4d} unfair pairs, mean reward {gained:.3f}")

# %% [markdown]
# ## The contract
#
# `evenhand.testing` has the rules of a learner as a pytest suite: queries change nothing, errors change nothing, a
# saved learner continues to the bit, distances are learned, contradictions are reported. Put this into a test module,
# below the imports and the class above:
#
# ```python
# from evenhand.testing import MetricLearnerContract
#
# class TestSmallestGap(MetricLearnerContract):
#     def make(self, n_features, **settings):
#         return SmallestGap(n_features)
# ```
#
# Run `pytest` on it. `SmallestGap` passes most tests and fails those that ask for more than a crude bound: it does not
# learn distances, reports no conflicts, and ignores its settings. That is what is left to do for a learner of your own.
# [Extend](../extend.md) lists the rules, and has the suites for reward models and ledger backends.
