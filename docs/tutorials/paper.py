# %% [markdown]
# # Reproduce the paper
#
# `eh.paper` has the three algorithms of "Online Learning with an Unknown Fairness Metric" to the letter. This tutorial
# runs them, compares them with evenhand's default on the same rounds, and looks at the theorems as numbers.

# %%
import numpy as np

import evenhand as eh

# %% [markdown]
# ## One world for all
#
# Contexts are drawn from the unit ball. The reviewer applies a Mahalanobis metric, d(x, y) = ||A (x - y)||, and reports
# every unfair pair.

# %%
D, K, ROUNDS, EPSILON = 3, 4, 300, 0.1
A = np.diag([0.4, 0.2, 0.05])
theta = np.array([0.5, -0.3, 0.4])


def rounds(seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(ROUNDS):
        x = rng.normal(size=(K, D))
        yield x / np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True)), rng.normal(0, 0.1, K)


def play(bandit: eh.FairBandit) -> tuple[int, int, float]:
    """Unfair pairs by more than epsilon, flagged rounds, and the mean expected reward."""
    reviewer = eh.auditors.MahalanobisAuditor(A)
    unfair = flagged = 0
    gained = []
    for contexts, noise in rounds(seed=0):
        decision = bandit.decide(contexts)
        review = reviewer.review(decision)
        outcomes = {i: float(theta @ contexts[i] + noise[i]) for i in decision.chosen}
        bandit.learn(decision, rewards=outcomes, review=review)
        p, distances = decision.probabilities, reviewer.distances(contexts)
        unfair += sum(abs(p[i] - p[j]) - distances[i, j] > EPSILON for i, j in review.unfair)
        flagged += bool(review.unfair)
        gained.append(float(p @ (contexts @ theta)))
    return unfair, flagged, float(np.mean(gained))


# %% [markdown]
# ## The paper's algorithm and the default
#
# `paper.full` has one distance estimator for each pair of candidates, as the paper analyses it. The default shares one
# metric among all pairs. Each line has the pairs that were unfair by more than epsilon, the rounds with a flag of any
# size, and the expected reward per round.

# %%
players = {
    "paper.full": eh.paper.full(D, epsilon=EPSILON, seed=0),
    "evenhand": eh.FairBandit(D, epsilon=EPSILON, seed=0),
}
print(f"{'':12s} unfair pairs  flagged rounds  mean reward")
for name, bandit in players.items():
    unfair, flagged, reward = play(bandit)
    print(f"{name:12s} {unfair:12d}  {flagged:14d}  {reward:11.3f}")

# %% [markdown]
# ## The theorems as numbers
#
# `eh.theory` evaluates the bounds. The paper's bound is on the unfairness loss of its algorithm; ours is on flagged
# rounds of `metrics.VersionSpace`.

# %%
unknowns = eh.theory.n_unknowns(D)
mistakes = eh.theory.distance_estimator_mistakes(unknowns, EPSILON**2, bound_alpha=1.0)
print(f"paper, mistakes of one distance estimator, at most: {mistakes:,.0f}")
space = eh.metrics.VersionSpace(D, epsilon=EPSILON, error_rate=0, seed=0)
print("VersionSpace, flagged rounds ever, at most:", space.flags_left)

# %% [markdown]
# `evenhand lab list` shows an experiment for each theorem; [findings](../findings.md) has their results.
