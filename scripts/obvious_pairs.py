"""What it costs to leave out pairs whose answer is predicted: `python -m scripts.obvious_pairs`.

A desk with the default learner and three answers a decision, once with `reviewing.certain=0.98`, the default, and once
with 1, where every pair may be asked about. Unfair are pairs beyond epsilon, by the reviewer's own metric.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import evenhand as eh
from evenhand._internal.arrays import Floats

EPSILON = 0.01
ANSWERS = 3


@dataclass(frozen=True)
class Case:
    """A world and how often it is played."""

    features: int
    candidates: int
    decisions: int
    wrong: float
    seeds: int


CASES = (Case(3, 4, 150, 0.0, 4), Case(5, 5, 150, 0.0, 4), Case(5, 5, 150, 0.1, 4), Case(8, 5, 120, 0.0, 3))


def review(desk: eh.Desk, people: dict[str, Floats], matrix: Floats, wrong: float, slips: np.random.Generator) -> int:
    """Answer on the pairs that the desk wants to know most about; returns how many there were."""
    queue = desk.queue(ANSWERS, reviewer="Kim")
    for waiting in queue:
        pair = (waiting.first, waiting.second)
        is_unfair = bool(waiting.gap > np.linalg.norm(matrix @ (people[pair[0]] - people[pair[1]])))
        says_unfair = is_unfair != (slips.random() < wrong)
        flagged, fine = ([pair], []) if says_unfair else ([], [pair])
        desk.review(waiting.decision, "partial", unfair=flagged, fair=fine, reviewer="Kim")
    return len(queue)


def play(case: Case, certain: float, seed: int) -> tuple[int, int, float, int]:
    """Unfair pairs, those of the second half, the expected reward of a decision there, and answers given."""
    rng, slips = np.random.default_rng([seed, case.features]), np.random.default_rng([seed, 99])
    axes = np.linalg.qr(rng.normal(size=(case.features, case.features)))[0]
    matrix = axes @ np.diag(np.linspace(0.1, 0.7, case.features)) @ axes.T
    pay_off = rng.normal(size=case.features) / np.sqrt(case.features)
    people: dict[str, Floats] = {}
    unfair, rewards, answers = [], [], 0
    reviewing = {"certain": certain}
    with eh.Desk.open(
        "memory:", "x", n_features=case.features, capacity=1, seed=seed, epsilon=EPSILON, reviewing=reviewing
    ) as desk:
        for number in range(case.decisions):
            contexts = rng.normal(size=(case.candidates, case.features))
            contexts /= np.maximum(1.0, np.linalg.norm(contexts, axis=1, keepdims=True))
            noise = rng.normal(0.0, 0.1, case.candidates)
            ids = [f"{number}-{i}" for i in range(case.candidates)]
            people.update(zip(ids, contexts, strict=True))
            decision = desk.decide([{"id": id_, "context": people[id_].tolist()} for id_ in ids])
            p = np.array([decision.probabilities[id_] for id_ in ids])
            distances = np.linalg.norm((contexts[:, None] - contexts[None]) @ matrix, axis=2)
            gaps = np.abs(p[:, None] - p[None])
            unfair.append(int(np.triu(gaps > distances + EPSILON, 1).sum()))
            rewards.append(float(p @ contexts @ pay_off))
            outcomes = dict(zip(ids, np.clip(contexts @ pay_off + noise, -1.0, 1.0).tolist(), strict=True))
            if decision.chosen:
                desk.outcome(decision.id, {id_: outcomes[id_] for id_ in decision.chosen})
            answers += review(desk, people, matrix, case.wrong, slips)
    half = case.decisions // 2
    return sum(unfair), sum(unfair[half:]), float(np.mean(rewards[half:])), answers


def main() -> None:
    """Print a row for each case and setting: means over seeds, and the unfair pairs of each seed."""
    print(
        "| case | certain | answers | unfair pairs, each seed | second half | reward, second half |\n"
        + "|---" * 6
        + "|"
    )
    for case in CASES:
        for certain in (0.98, 1.0):
            runs = [play(case, certain, seed) for seed in range(case.seeds)]
            unfair, late, reward, answers = (np.mean(column) for column in zip(*runs, strict=True))
            each = ", ".join(str(run[0]) for run in runs)
            name = f"d = {case.features}, k = {case.candidates}, {case.wrong:.0%} wrong"
            print(
                f"| {name} | {certain} | {answers:.0f} | {unfair:.1f}: {each} | {late:.1f} | {reward:.3f} |", flush=True
            )


if __name__ == "__main__":
    main()
