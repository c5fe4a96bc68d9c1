"""A loan desk: real features, answers that come later, and what was learned in words.

python examples/loan_desk.py
"""

import numpy as np

import evenhand as eh

schema = eh.Schema(
    [
        eh.Number("income", low=0, high=100_000, unit="EUR", step=10_000),
        eh.Number("employment", low=0, high=40, unit="years", step=5),
        eh.YesNo("is_married"),
    ]
)
desk = eh.FairBandit(n_features=schema.n_features, capacity=2, structure="diagonal", seed=7)
rng = np.random.default_rng(7)


def applicants() -> list[dict[str, object]]:
    """Five people who come on one day."""
    return [
        {
            "income": float(rng.integers(10, 100)) * 1000,
            "employment": float(rng.integers(0, 40)),
            "is_married": bool(rng.integers(2)),
        }
        for _ in range(5)
    ]


def reviewer(people: list[dict[str, object]], decision: eh.Decision) -> eh.Review:
    """Flags probabilities that differ by more than income and employment do; marriage must not matter."""
    values = schema.encode(people)[:, :2] / schema.scale / 2  # both features from -1/2 to 1/2
    pairs = [(i, j) for i in range(5) for j in range(i)]
    return eh.Review.complete(
        [(i, j) for i, j in pairs if decision.gap(i, j) > 0.8 * np.linalg.norm(values[i] - values[j])]
    )


for _ in range(150):
    people = applicants()
    decision = desk.decide(schema.encode(people))
    desk.learn(decision, review=reviewer(people, decision))  # the next day
    pay_off = {i: 0.5 if people[i]["is_married"] else -0.2 for i in decision.chosen}
    desk.learn(decision, rewards=pay_off)  # a year later

people = applicants()
decision = desk.decide(schema.encode(people))
for i, person in enumerate(people):
    print(f"{decision.probabilities[i]:.2f}  {'chosen' if i in decision.chosen else '      '}  {person}")
print(schema.explain(desk.metric.get_mahalanobis_matrix(), ends=desk.metric.ends_of))
desk.save("desk.eh")
