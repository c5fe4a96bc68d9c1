# %% [markdown]
# # A loan desk
#
# You have a table of applicants. This tutorial describes its columns with a schema, opens a desk with a ledger, decides
# for twenty days, and explains one decision. The applicants are made up; the steps are those for a table of your own.
# You need `pip install 'evenhand[desk,frames]'`.

# %%
import numpy as np
import polars as pl

import evenhand as eh

# %% [markdown]
# ## The table

# %%
rng = np.random.default_rng(3)
N = 400
table = pl.DataFrame(
    {
        "id": [f"A{i:03d}" for i in range(N)],
        "income": np.exp(rng.normal(8.0, 0.5, N)).round(-1),
        "debt": np.exp(rng.normal(6.5, 0.9, N)).round(-1),
        "years_employed": rng.integers(0, 30, N),
        "purpose": rng.choice(["car", "home", "study"], N),
    }
)
table.head(4)

# %% [markdown]
# ## A schema
#
# `Schema.from_frame` proposes features, kinds, ranges and scales. Read the proposal, and change what is not right: here
# the `id` is carried along, and not used.

# %%
schema = eh.Schema.from_frame(table, carry=["id"])
print(schema)

# %% [markdown]
# ## Open the desk
#
# A desk is a bandit with a ledger. `memory:` keeps it in memory; use `sqlite:///ledger.db` for a file. Three of eight
# applicants get a loan.

# %%
desk = eh.Desk.open("memory:", "loans", schema=schema, capacity=3, seed=11)

# %% [markdown]
# ## Twenty days of decisions
#
# Each day eight people apply. Outcomes come later, and a reviewer looks at the three pairs that teach most. Our
# reviewer finds two people alike if they earn alike: purpose and years do not count. In your program people answer,
# on the [review page](../review_page.md) or over HTTP; here two functions stand in for them and for the outcomes.


# %%
def too_different(one: dict, other: dict, gap: float) -> bool:
    return gap > 0.5 * abs(np.log(one["income"] / other["income"]))


def outcome(person: dict) -> float:
    return float(np.tanh(np.log(person["income"] / person["debt"]) / 3) + rng.normal(0, 0.1))


everybody = {row["id"]: row for row in table.iter_rows(named=True)}
flags = []
for day in range(20):
    rows = table.sample(8, seed=day)
    applicants = [{"id": row["id"], "features": row} for row in rows.iter_rows(named=True)]
    decision = desk.decide(applicants, actor="intake", idempotency_key=f"day {day}")
    desk.outcome(decision.id, {name: outcome(everybody[name]) for name in decision.chosen})
    flagged = 0
    for waiting in desk.queue(3, reviewer="Kim"):  # pairs of this decision or earlier ones, most informative first
        pair = (waiting.first, waiting.second)
        is_unfair = too_different(everybody[waiting.first], everybody[waiting.second], waiting.gap)
        desk.review(waiting.decision, "partial", **{"unfair" if is_unfair else "fair": [pair]}, reviewer="Kim")
        flagged += is_unfair
    flags.append(flagged)

print("flags in the first ten days:", sum(flags[:10]), "- in the last ten:", sum(flags[10:]))

# %% [markdown]
# ## Explain a decision
#
# Why did these people get these chances? The explanation names the pairs whose distance limited them, and what fairness
# cost. The optimistic reward is the estimate plus its uncertainty, so that the desk also learns about people it knows
# little of.

# %%
for sentence in desk.explain(decision.id).sentences[:6]:
    print("-", sentence)

# %% [markdown]
# ## What the ledger knows
#
# Every command became an event; each is chained to the one before by a hash. The head is the last hash. Note it
# somewhere else, and nobody can rewrite the past unnoticed.

# %%
print(desk.head)
desk.close()

# %% [markdown]
# Next: [be the reviewer](reviewer.py), or [run the service](../service.md) and do the same over HTTP.
