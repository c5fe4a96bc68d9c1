# %% [markdown]
# # Your first decision
#
# You choose one of several candidates, round after round. Rewards are observed only for those you choose. A reviewer
# tells you when two candidates were alike and had very different chances. This tutorial plays a hundred rounds of it.
# All you need is `pip install evenhand`; the first run compiles for some ten seconds.

# %%
import tempfile
from pathlib import Path

import numpy as np

import evenhand as eh

# %% [markdown]
# ## A world to play in
#
# Each round has four candidates with three features each: a vector of norm at most 1, the context. `theta` says what
# pays off. `A` is the reviewer's metric: it says which differences make two candidates different. The bandit knows
# neither; it sees contexts, outcomes and verdicts.

# %%
rng = np.random.default_rng(1)
theta = np.array([0.6, 0.2, 0.0])
A = np.diag([0.05, 0.3, 0.6])  # the first feature hardly makes people different; the third does


def candidates() -> np.ndarray:
    x = rng.normal(size=(4, 3))
    return x / np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))


reviewer = eh.auditors.MahalanobisAuditor(A)

# %% [markdown]
# ## One round
#
# `decide` returns the probabilities that were played and the candidates that were drawn. `epsilon` is the unfairness
# that you tolerate: 0.05 is five percentage points.

# %%
bandit = eh.FairBandit(n_features=3, capacity=1, epsilon=0.05, seed=0)
decision = bandit.decide(candidates())
print(decision)

# %% [markdown]
# Outcomes and reviews may come at any time, in any order. Here the reviewer looks at all six pairs at once. A pair is
# unfair if the two probabilities differ by more than the two candidates do. `used` is the number of verdicts that were
# learned; `conflicts` would name pairs whose verdicts contradict earlier ones.

# %%
rewards = {i: float(theta @ decision.contexts[i] + rng.normal(0, 0.1)) for i in decision.chosen}
review = reviewer.review(decision)
print("unfair pairs:", review.unfair)
learned = bandit.learn(decision, rewards=rewards, review=review)
print(learned)

# %% [markdown]
# ## A hundred rounds
#
# Count the unfair pairs in each block of twenty rounds, beginning with the one above, and the reward to be expected
# from the probabilities.

# %%
unfair = [len(review.unfair)]
gained = [float(decision.probabilities @ (decision.contexts @ theta))]
for _ in range(99):
    decision = bandit.decide(candidates())
    rewards = {i: float(theta @ decision.contexts[i] + rng.normal(0, 0.1)) for i in decision.chosen}
    review = reviewer.review(decision)
    bandit.learn(decision, rewards=rewards, review=review)
    unfair.append(len(review.unfair))
    gained.append(float(decision.probabilities @ (decision.contexts @ theta)))

for start in range(0, 100, 20):
    block = slice(start, start + 20)
    print(
        f"rounds {start:2d}-{start + 19:2d}: {sum(unfair[block]):3d} unfair pairs, reward {np.mean(gained[block]):.2f}"
    )

# %% [markdown]
# Unfair pairs become rare while the reward goes up: the bandit has learned which differences count for the reviewer.
# One still comes up now and then, when candidates differ in a way that it has not seen yet.
#
# ## What it learned
#
# `distances` has an estimate with a lower and an upper end. The reviewer's own distances lie within.

# %%
estimate, lower, upper = bandit.distances(decision.contexts)
truth = reviewer.distances(decision.contexts)  # ||A (x - y)||
print("distances from candidate 0")
print("  estimate:  ", estimate[0].round(2))
print("  lower ends:", lower[0].round(2))
print("  upper ends:", upper[0].round(2))
print("  reviewer's:", truth[0].round(2))

# %% [markdown]
# `flags_left` is a proved number: at most so many more rounds can be flagged, if the reviewer applies a rule. `None`
# would mean that nothing is proved.

# %%
print("flags left:", bandit.flags_left)

# %% [markdown]
# ## Keep it
#
# Save the bandit and load it later: it continues as if it had never stopped.

# %%
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "desk.eh"
    bandit.save(path)
    again = eh.FairBandit.load(path)
print(again.rounds, "rounds")

# %% [markdown]
# Next: [a loan desk](loan_desk.py), with a table of applicants and a ledger.
