"""The bandit feedback of Open Bandit Pipeline (obp), out: decisions with outcomes for its estimators.

obp's dict consists of numpy arrays, so nothing needs to be installed to make one.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_one_of
from evenhand.errors import InvalidInput
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision

BanditFeedback = dict[str, Any]
Logged = tuple[Decision, Mapping[int, float]]
"""A decision, and the rewards of those who were chosen."""


def to_obp(rounds: Iterable[Logged], *, missing: Literal["refuse", "drop"] = "refuse") -> BanditFeedback:
    """obp's bandit feedback of decisions with outcomes, of any capacity but None.

    Every place of a round is a row: with capacity m there are m, numbered in "position". The chosen candidates are put
    into the places in random order, so the probability of candidate i in a place, "pscore", is p_i / m; "pi_b" has all
    of them, (n, n_actions, m). An action is the number of a candidate in its round; the last one is "nobody", with
    reward 0, so that a place that stayed empty counts as well. "context" (n, k d) has the contexts of all candidates of
    the round in a row, 0 where there are fewer. The reward of a row is that of one place: multiply a policy's value by
    m for that of a round. missing: "drop" leaves out places whose reward is unknown, which biases estimates unless
    outcomes are missing at random.

    >>> from evenhand import FairBandit
    >>> decision = FairBandit(2, seed=0).decide([[1.0, 0.0], [0.0, 1.0]])
    >>> feedback = to_obp([(decision, {i: 0.5 for i in decision.chosen})])
    >>> feedback["n_rounds"], feedback["n_actions"], feedback["reward"], feedback["pi_b"].shape
    (1, 3, array([0.5]), (1, 3, 1))
    """
    check_one_of("missing", missing, ("refuse", "drop"))
    logged = [(decision, dict(rewards)) for decision, rewards in rounds]
    if not logged:
        raise InvalidInput("rounds must be at least 1, got none")
    places, features = _shape(logged)
    most = max(decision.n_candidates for decision, _ in logged)
    rows: list[tuple[int, int, int, float]] = []
    for number, (decision, rewards) in enumerate(logged):
        decision.check_rewards(rewards)
        for place, candidate in enumerate(_placed(decision, places)):
            if candidate is None:
                rows.append((number, place, most, 0.0))
            elif candidate in rewards:
                rows.append((number, place, candidate, float(rewards[candidate])))
            elif missing == "refuse":
                raise InvalidInput(
                    f"every chosen candidate must have a reward, got none of {candidate} in round {number}"
                )
    if not rows:
        raise InvalidInput("rounds must have at least 1 reward, got none")
    index, position, action = (np.array([row[at] for row in rows], dtype=np.int64) for at in range(3))
    pi_b = action_dist([decision.probabilities for decision, _ in logged], places)[index]
    context = np.zeros((len(logged), most * features))
    for row, (decision, _) in zip(context, logged, strict=True):
        row[: decision.contexts.size] = decision.contexts.ravel()
    return {
        "n_rounds": len(rows),
        "n_actions": most + 1,
        "context": context[index],
        "action_context": np.eye(most + 1),
        "action": action,
        "position": None if places == 1 else position,
        "reward": np.array([row[3] for row in rows]),
        "pscore": pi_b[np.arange(len(rows)), action, position],
        "pi_b": pi_b,
        "round": index,
    }


def action_dist(probabilities: Sequence[ArrayLike], capacity: int) -> Floats:
    """obp's action distribution of a policy that chooses with these probabilities in each round, (n, n_actions, m).

    Take the rows of the rounds that `to_obp` kept with `feedback["round"]`.

    >>> action_dist([[0.5, 0.3], [0.2]], 1)[:, :, 0].tolist()
    [[0.5, 0.3, 0.2], [0.2, 0.0, 0.8]]
    """
    rounds = [np.asarray(p, dtype=np.float64) for p in probabilities]
    most = max((len(p) for p in rounds), default=0)
    dist = np.zeros((len(rounds), most + 1, capacity))
    for table, p in zip(dist, rounds, strict=True):
        if p.ndim != 1 or not np.all((p >= -PROBABILITY_TOLERANCE) & (p <= 1 + PROBABILITY_TOLERANCE)):
            raise InvalidInput(f"probabilities must be from 0 to 1 in every round, got {p.tolist()}")
        nobody = capacity - math.fsum(p)
        if nobody < -PROBABILITY_TOLERANCE * max(len(p), 1):
            raise InvalidInput(f"probabilities must sum to at most the capacity {capacity}, got {math.fsum(p)}")
        table[: len(p)] = np.clip(p, 0.0, 1.0)[:, None] / capacity
        table[most] = round(max(nobody, 0.0), 12) / capacity  # a rest of rounding is no chance of nobody
    return dist


def _shape(logged: Sequence[Logged]) -> tuple[int, int]:
    """The number of places and of features, which must be the same in all rounds."""
    capacities = {decision.capacity for decision, _ in logged}
    widths = {decision.contexts.shape[1] for decision, _ in logged}
    if len(capacities) > 1 or len(widths) > 1:
        raise InvalidInput("rounds must have one capacity and one number of features, got several")
    if any(decision.mode == "shares" for decision, _ in logged):
        raise InvalidInput("rounds must be of a lottery, got one in shares: it draws nobody")
    (capacity,), (features,) = capacities, widths
    if capacity is None:
        raise InvalidInput("rounds must have a capacity: without one, every candidate is a decision of its own")
    return int(capacity), features


def _placed(decision: Decision, places: int) -> list[int | None]:
    """Who is in each place: the chosen in a random order that depends on the decision's id alone, or nobody."""
    seed = int.from_bytes(hashlib.blake2b(decision.id.encode(), digest_size=8).digest(), "big")
    order = np.random.default_rng(seed).permutation(places).tolist()
    return [decision.chosen[at] if at < len(decision.chosen) else None for at in order]
