"""A table with gaps, codes and odd values: propose a schema, edit it, and decide although one applicant does not fit.

python examples/real_table.py
"""

import numpy as np
import pandas as pd

import evenhand as eh

rng = np.random.default_rng(3)
n = 400
past = pd.DataFrame(
    {
        "case_id": [f"c{number:04}" for number in range(n)],
        "income": rng.lognormal(10.5, 0.8, n).round(-2),
        "debt": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(8, 1.5, n).round()),
        "purpose": rng.choice(["car", "home", "study", "boat", "yacht"], n, p=[0.5, 0.3, 0.19, 0.005, 0.005]),
        "grade": rng.integers(1, 6, n),
        "opened": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1500, n), unit="D"),
        "approved": rng.integers(0, 2, n),
    }
)

draft = eh.Schema.from_frame(past, kinds={"grade": "ordinal"}, carry=["approved"])
print(draft)  # the notes say what to look at
schema = draft.without("case_id")

today = past.sample(8, random_state=1).set_index("case_id").drop(columns="approved")
today.loc[today.index[2], "income"] = 9e9
today.loc[today.index[5], "purpose"] = "helicopter"

people = schema.read(today, on_invalid="skip")
print(*people.left_out, *people.counted_as, sep="\n")
bandit = eh.FairBandit(n_features=schema.n_features, capacity=2, structure="diagonal", seed=1)
decision = bandit.decide(people.contexts)
print([people.ids[i] for i in decision.chosen])

with eh.Desk.open("memory:", "loans", schema=schema, capacity=2, seed=1) as desk:
    print(desk.decide(today, on_invalid="clip"))
