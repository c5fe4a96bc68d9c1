# %% [markdown]
# # Your first decision
#
# You choose one of several candidates, round after round. Rewards are observed only for those you choose. A reviewer
# tells you when two candidates were alike and had very different chances. This tutorial plays a hundred rounds of it.

# %%
import tempfile
from pathlib import Path

import numpy as np

import evenhand as eh

# %% [markdown]
# ## A world to play in
#
# Four candidates a round, with three features each. `theta` is what pays off, and `A` is what the reviewer finds
# alike. Both are unknown to the bandit: it sees contexts, outcomes and verdicts.

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
# `decide` returns the probabilities that were played and the candidates that were drawn.

# %%
bandit = eh.FairBandit(n_features=3, capacity=1, epsilon=0.05, seed=0)
decision = bandit.decide(candidates())
print(decision)

# %% [markdown]
# Outcomes and reviews may come at any time, in any order. Here the reviewer looks at all pairs at once.

# %%
rewards = {i: float(theta @ decision.contexts[i] + rng.normal(0, 0.1)) for i in decision.chosen}
review = reviewer.review(decision)
print("unfair pairs:", review.unfair)
learned = bandit.learn(decision, rewards=rewards, review=review)
print(learned)

# %% [markdown]
# ## A hundred rounds
#
# Count the unfair pairs in each block of twenty rounds, and how much reward was expected.

# %%
unfair, gained = [], []
for _ in range(100):
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
# Flags become rare while the reward goes up: the bandit has learned which differences count for the reviewer.
#
# ## What it learned
#
# `distances` has an estimate with lower and upper ends; `flags_left` is a proved number of rounds that can still be
# flagged, if the reviewer applies a rule.

# %%
estimate, lower, upper = bandit.distances(decision.contexts)
truth = np.array([[np.sqrt((x - y) @ A @ (x - y)) for y in decision.contexts] for x in decision.contexts])
print("learned distances from candidate 0:", estimate[0].round(2))
print("the reviewer's own:                ", truth[0].round(2))
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
