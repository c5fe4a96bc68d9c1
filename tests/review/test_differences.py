"""What reviewers see first of two people with many features, and what is marked as a difference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evenhand.desk import Desk
from evenhand.desk.settings import DeskSettings
from evenhand.environments.mortgages import GROUPS, SCHEMA, mortgage_applicants
from evenhand.errors import InvalidInput
from evenhand.review.differences import learned_sizes, share_of_range
from evenhand.review.display import features_of, rows_of
from evenhand.review.review_sessions import ReviewSessions
from evenhand.schema import Number, Ordinal, Schema, YesNo


def rows(left: dict[str, Any], right: dict[str, Any], **reviewing: Any) -> dict[str, dict[str, Any]]:
    """The rows of two people of a desk with these rules, by name."""
    settings = DeskSettings.create(schema=SCHEMA, reviewing=reviewing)
    one, other = ({name: row[name] for name in SCHEMA.names} for row in (left, right))
    return {row["name"]: row for row in rows_of(one, other, settings, ())}


def test_only_a_difference_above_the_threshold_is_marked() -> None:
    """28 against 27 years is none, 28 against 47 is one; a desk can want every difference marked."""
    one = mortgage_applicants(1, np.random.default_rng(0))[0] | {"age": 27}
    near, far = one | {"age": 28}, one | {"age": 47}
    assert (rows(one, near)["age"]["differs"], rows(one, near)["age"]["marked"]) == (True, False)
    assert rows(one, far)["age"]["marked"]
    assert rows(one, near, mark_above=0)["age"]["marked"]
    assert not rows(one, far, mark_above=0.5)["age"]["marked"]
    assert not [name for name, row in rows(one, dict(one), mark_above=0).items() if row["marked"]]


def test_shares_of_a_range() -> None:
    """On the scale of the feature; beyond its range as they are; levels without an order in between."""
    schema = Schema(
        [
            Number("income", low=0, high=100_000, scale="log", clip=True),
            Ordinal("grade", levels=("a", "b", "c")),
            YesNo("member"),
        ]
    )
    poor, rich = (share_of_range("income", low, low + 10_000, schema) for low in (0, 90_000))
    assert poor > 2 * rich > 0
    assert share_of_range("income", 150_000, 200_000, schema) == 0.5
    assert share_of_range("grade", "a", "b", schema) == 0.5
    assert share_of_range("grade", "a", "c", schema) == 1.0
    assert share_of_range("member", True, False, schema) == 0.5
    assert share_of_range("income", None, 5, schema) == 1.0
    assert share_of_range("feature 1", 0.2, 0.5, None) == pytest.approx(0.3)


def test_groups_and_the_order_by_what_was_learned() -> None:
    """Rows name their group. Ordered by the learned metric, shares are ranks among those that differ and are shown.

    With one hidden the others have the same order and other ranks: nothing tells whether it differs most.
    """
    hidden = "income"
    rules: dict[str, Any] = {"groups": GROUPS, "order": "learned", "certain": 1.0}
    rng = np.random.default_rng(3)
    with Desk.open("memory:", "loans", schema=SCHEMA, capacity=2, seed=1, reviewing=rules) as desk:
        for number in range(2):
            people = enumerate(mortgage_applicants(6, rng))
            desk.decide([{"id": f"{number}-{i}", "features": row} for i, row in people])
        desk.catch_up(wait=True)
        reviewing = ReviewSessions(desk)
        item = reviewing.next("Kim")
        assert item is not None
        shown = reviewing.display(item)["rows"]
        others = reviewing.display(replace(item, hidden=(hidden,)))["rows"]
        left, right = features_of(desk.event(item.decision).body, [item.left, item.right], desk.settings)
        sizes = learned_sizes(left, right, SCHEMA, desk.projection.bandit.metric.get_mahalanobis_matrix())
    assert {row["group"] for row in shown} == set(GROUPS)
    assert "gender" not in [row["name"] for row in shown]
    assert hidden in [row["name"] for row in shown if row["differs"]]
    orders = []
    for rows in (shown, others):
        ranked = sorted((row for row in rows if row["differs"]), key=lambda row: float(row["share"]))
        assert [row["share"] for row in ranked] == [round(i / len(ranked), 3) for i in range(1, len(ranked) + 1)]
        assert all(row["share"] == 0 for row in rows if not row["differs"])
        orders.append([row["name"] for row in ranked if row["name"] != hidden])
        assert [sizes[row["name"]] for row in ranked] == sorted(sizes[row["name"]] for row in ranked)
    assert orders[0] == orders[1]


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"groups": {"Money": ["incme"]}}, "reviewing.groups has unknown attributes incme"),
        ({"groups": {"Money": "income"}}, "must be a list of features"),
        ({"groups": ["income"]}, "reviewing.groups must be a dict"),
        ({"far_apart": {"incme": 5}}, "reviewing.far_apart has unknown attributes incme"),
        ({"far_apart": {"income": 0}}, "must be a number > 0, got 0"),
        ({"far_apart": [1]}, "reviewing.far_apart must be a dict"),
        ({"mark_above": 2}, "reviewing.mark_above must be a number from 0 to 1, got 2"),
        ({"certain": 0.5}, "reviewing.certain must be a number > 0.5"),
        ({"order": "size"}, "reviewing.order must be 'range' or 'learned'"),
    ],
)
def test_rules_that_make_no_sense_are_refused(rules: dict[str, Any], words: str) -> None:
    """The message says which, and what it should be."""
    with pytest.raises(InvalidInput, match=words):
        DeskSettings.create(schema=SCHEMA, reviewing=rules)


def test_rules_survive_the_ledger() -> None:
    """What a desk was opened with is what it is read back with, also by way of JSON."""
    settings = DeskSettings.create(schema=SCHEMA, reviewing={"groups": GROUPS, "far_apart": {"income": 100_000}})
    again = DeskSettings.from_dict(settings.to_dict())
    assert again.reviewing == settings.reviewing
    assert again.reviewing.far_apart == {"income": 100_000.0}
