# %% [markdown]
# # Be the reviewer
#
# A reviewer answers questions about pairs of people. This tutorial shows the three ways to ask: an interview before
# going live, pairs of real decisions, and ratings. To answer yourself, in a browser, run `evenhand serve --demo`.

# %%
import numpy as np

import evenhand as eh

rng = np.random.default_rng(5)
people = rng.normal(size=(300, 4))
people /= np.maximum(1.0, np.linalg.norm(people, axis=1, keepdims=True))
WEIGHTS = np.array([0.8, 0.3, 0.1, 0.0])  # what our reviewer finds different


def distance(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.linalg.norm((x - y) * WEIGHTS))


# %% [markdown]
# ## Before going live: an interview
#
# Nobody has to be treated unfairly to teach the bandit. The interview shows two people with hypothetical chances, asks
# about the pair with the most informative answer, and says how many unfair pairs to expect if you went live now.

# %%
bandit = eh.FairBandit(n_features=4, epsilon=0.05, seed=0)
interview = eh.Interview(bandit, people, max_questions=40, seed=0)
print(f"before: {interview.expected_unfair_pairs:.1f} unfair pairs expected, flags left {interview.flags_left}")
for question in interview:
    i, j = question.pair
    interview.answer("unfair" if question.gap > distance(people[i], people[j]) else "acceptable")
print(
    f"after {len(interview.answers)} answers: {interview.expected_unfair_pairs:.1f}, flags left {interview.flags_left}"
)
print(interview.ended)

# %% [markdown]
# ## Live: the pairs that teach most
#
# Ten candidates make 45 pairs. `pairs_to_review` puts the most informative ones first, with the reason for each.

# %%
contexts = people[:10]
decision = bandit.decide(contexts)
for proposed in bandit.pairs_to_review(decision, 3):
    i, j = proposed.pair
    print(proposed.pair, f"gap {decision.gap(i, j):.2f}:", proposed.reason)

# %%
shown = [proposed.pair for proposed in bandit.pairs_to_review(decision, 3)]
unfair = [pair for pair in shown if decision.gap(*pair) > distance(contexts[pair[0]], contexts[pair[1]])]
fair = [pair for pair in shown if pair not in unfair]
print(bandit.learn(decision, review=eh.Review.partial(unfair=unfair, fair=fair, reviewer="Kim")))

# %% [markdown]
# ## Ratings
#
# Some people find it easier to rate candidates than to compare chances. Two with the same rating should have much the
# same chance. Lee rates four candidates from 1 to 5.

# %%
scores = {i: round(3 + 2 * float(contexts[i] @ WEIGHTS)) for i in range(4)}
print(scores, bandit.learn(decision, review=eh.Review.ratings(scores, scale=(1, 5), reviewer="Lee")))

# %% [markdown]
# ## What the bandit thinks of its reviewers
#
# Error rates are learned for each reviewer by name. After a handful of answers the intervals are wide: such a rate is
# mostly what the bandit assumed before. `fit` says whether the answers follow any metric at all.

# %%
for name, report in bandit.reviewers().items():
    print(f"{name or 'interview'}: wrong in {report.error_rate:.0%} ({report.lower:.0%} to {report.upper:.0%})")
print(bandit.fit().explain())

# %% [markdown]
# More in the guides: [interview](../interview.md), [reviewers](../reviewers.md), [review page](../review_page.md).
