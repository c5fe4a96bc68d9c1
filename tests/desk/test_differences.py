"""Where a desk in shadow mode and the system in force differ."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.desk import Desk, Ledger
from evenhand.errors import InvalidInput
from evenhand.metrics import Pairs
from tests.support.desk_play import play
from tests.support.shadow_play import SHADOW, one_day, proposed


@pytest.fixture
def desk(ledger: Ledger, name: str) -> Desk:
    """A new desk in shadow mode."""
    return Desk.open(ledger, name, **SHADOW)


def test_without_an_action_nothing_can_be_compared(desk: Desk) -> None:
    """The report says how many decisions wait for one."""
    assert desk.differences().compared == 0
    proposed(desk, action=None)
    desk.catch_up(wait=True)
    report = desk.differences()
    assert (report.compared, report.untold, report.agreement) == (0, 1, None)
    assert str(report) == (
        "No decision of this desk can be compared with the system in force. 1 decision waits to be told what was done."
    )


def test_figures_by_hand(desk: Desk) -> None:
    """Agreement, estimated rewards, unfair pairs and reviews, computed again from the events in plain steps."""
    made = [one_day(desk, seed) for seed in range(4)]
    desk.catch_up(wait=True)
    report, bandit = desk.differences(), desk.projection.bandit
    agreement, rewards, unfair, flagged = [], [], [0, 0], 0
    for decision in made:
        body = decision.event.body
        x, p, q = np.array(body["contexts"]), np.array(body["probabilities"]), np.array([1.0, 0.0, 0.0, 0.0])
        agreement.append(float(p[0]))  # capacity 1, and all of q on the first: the overlap is p_0
        rewards.append(bandit.reward.estimate(x) @ np.stack([p, q]).T)
        distances = np.sqrt(bandit.metric.estimate(Pairs.of(x)))
        for at, each in enumerate((p, q)):
            i, j = Pairs.of(x).indices.T
            unfair[at] += int(np.sum(np.abs(each[i] - each[j]) > distances + 1e-9))
    assert report.compared == 4
    assert str(report).startswith("In 4 decisions the desk")
    assert report.agreement == pytest.approx(np.mean(agreement))
    assert report.same_choice == sum(one.would_choose == ["person 0"] for one in made)
    assert [report.desk.estimated_reward, report.system.estimated_reward] == pytest.approx(np.mean(rewards, axis=0))
    assert report.reward_difference == pytest.approx(np.mean([one[0] - one[1] for one in rewards]))
    assert [report.desk.unfair_pairs, report.system.unfair_pairs] == unfair
    assert unfair[1] > unfair[0]
    assert (report.desk.reviewed, report.desk.flagged) == (4, flagged)
    assert (report.system.reviewed, report.system.flagged) == (4, 4)
    assert report.outcomes == 4
    assert report.mean_outcome == pytest.approx(0.15)
    assert [one.agreement for one in report.decisions] == sorted(agreement)
    worst = [one for one in report.pairs if one.subject == "system"]
    assert worst[0].gap == 1.0
    assert [one.gap - one.distance for one in worst] == sorted((one.gap - one.distance for one in worst), reverse=True)
    assert "Reviewers called 0 of 4 reviewed proposals of the desk unfair, and 4 of 4" in str(report)


def test_one_is_one(desk: Desk) -> None:
    """One decision is not called decisions."""
    one_day(desk, 0)
    desk.catch_up(wait=True)
    assert str(desk.differences()).startswith("In 1 decision the desk")


def test_withdrawn_reviews_do_not_count(desk: Desk) -> None:
    """Nor do decisions with somebody who was erased."""
    one_day(desk, 0)
    for review in desk.events(kinds=["review"]):
        desk.withdraw(review.id)
    assert desk.differences().system.reviewed == desk.differences().desk.reviewed == 0
    desk.erase("person 3")
    assert (desk.differences().compared, desk.differences().erased) == (0, 1)


def test_live_decisions_are_left_out(desk: Desk) -> None:
    """The newest in shadow mode are compared, however many came since; the report stays after going live."""
    for seed in range(3):
        proposed(desk, seed)
    desk.switch("live")
    play(desk, 1)
    desk.switch("shadow")
    last = proposed(desk, 4)
    desk.catch_up(wait=True)
    assert desk.differences().compared == 4
    assert {one.decision for one in desk.differences(last=1).decisions} == {last.id}
    assert {one.number for one in desk.differences(last=2).decisions} == {2, last.number}
    with pytest.raises(InvalidInput, match="last must be a whole number from 1 to 5000, got 0"):
        desk.differences(last=0)
