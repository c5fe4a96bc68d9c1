"""The forecast of unfair pairs against what came, in twenty worlds.

    python -m benchmarks.forecast [--questions 0 30] [--worlds 20] [--decisions 50] [--draws 15]

Worlds have 10, 16 or 24 columns, uniform in a ball, or are mortgage applicants with 46 columns; 1, 3 or 10 pairs of a
decision are reviewed by an exact reviewer, whose metric is diagonal, has four interactions or is of rank three, with a
norm of 0.3, 1 or 3. The default bandit decides. The forecast is made before any answer, and after an interview of so
many questions about whole profiles. Printed: the median and the 80% interval, what came in live decisions that share
no code with the forecast, the formula of the interview's meter, how many medians are right to within a factor of two,
and how many intervals cover. Half an hour on one core.
"""

from __future__ import annotations

import argparse
import copy
import math
import time
import warnings
from dataclasses import dataclass

import numpy as np

import evenhand as eh
from benchmarks.applicants import mortgage_applicants
from benchmarks.structures import EPSILON, TRUTHS, in_ball, truth
from evenhand._internal.arrays import Floats
from evenhand.interview import ReviewPlan

COLUMNS, REVIEWED, NORMS, RANK, PEOPLE = (10, 16, 24, 46), (1, 3, 10), (0.3, 1.0, 3.0), 3, 500
QUESTION_PAIRS = 500
FEW = 0.5  # Fewer unfair pairs count as this many where factors are computed.


@dataclass(frozen=True, eq=False)
class TrueWorld:
    """People, the reviewer's metric, the rewards, and the plan."""

    number: int
    people: Floats
    kind: str
    norm: float
    G: Floats
    theta: Floats
    plan: ReviewPlan

    @classmethod
    def of(cls, number: int, decisions: int) -> TrueWorld:
        """Worlds are numbered from 0; every kind of table meets every kind of metric."""
        rng, d = np.random.default_rng([number, 53]), COLUMNS[number % 4]
        people = mortgage_applicants() if d == 46 else in_ball(rng, PEOPLE, d)
        kind, norm = TRUTHS[number // 4 % 3], NORMS[(number + number // 4) % 3]
        theta = rng.normal(size=people.shape[1])
        plan = ReviewPlan(50 if d == 46 else 12, REVIEWED[number % 3], decisions)
        G = truth(kind, people.shape[1], norm, RANK, rng)
        return cls(number, people, kind, norm, G, np.asarray(theta / np.linalg.norm(theta)), plan)

    def bandit(self) -> eh.FairBandit:
        """The default one: three places for twelve, ten for fifty."""
        capacity = 10 if self.plan.candidates == 50 else 3
        return eh.FairBandit(len(self.theta), capacity=capacity, epsilon=EPSILON, seed=self.number)

    def distances(self, differences: Floats) -> Floats:
        """By the reviewer's metric, (n,)."""
        return np.asarray(np.sqrt(np.maximum(np.sum((differences @ self.G) * differences, axis=1), 0.0)))

    def came(self, bandit: eh.FairBandit) -> int:
        """Pairs unfair by more than epsilon in live decisions of a copy."""
        live, rng, unfair = copy.deepcopy(bandit), np.random.default_rng([self.number, 59]), 0
        live.reseed(np.random.default_rng([self.number, 61]))
        for _ in range(self.plan.decisions):
            contexts = self.people[rng.choice(len(self.people), self.plan.candidates, replace=False)]
            decision = live.decide(contexts)
            i, j = np.triu_indices(len(contexts), 1)
            gaps = np.abs(decision.probabilities[i] - decision.probabilities[j])
            excess = gaps - self.distances(contexts[i] - contexts[j])
            unfair += int(np.sum(excess > EPSILON))
            flagged = {(a, b) for a, b, over in zip(i.tolist(), j.tolist(), excess, strict=True) if over > 0.0}
            shown = [each.pair for each in live.pairs_to_review(decision, self.plan.pairs or 1)]
            review = eh.Review.partial(
                unfair=[pair for pair in shown if pair in flagged], fair=[pair for pair in shown if pair not in flagged]
            )
            worth = contexts @ self.theta + 0.1 * rng.normal(size=len(contexts))
            live.learn(decision, rewards={c: float(np.clip(worth[c], -1, 1)) for c in decision.chosen}, review=review)
        return unfair


@dataclass(frozen=True)
class Compared:
    """A forecast and what came."""

    is_near: bool
    promised_near: float
    """The share of the simulated worlds that are as near to their median: what the forecast itself promises."""
    covers: bool
    metered_near: bool


def compare(world: TrueWorld, questions: int, draws: int) -> Compared:
    """Ask so many questions, forecast, go live; print a line."""
    bandit, start = world.bandit(), time.perf_counter()
    interview = eh.Interview(
        bandit,
        world.people,
        enough=0.0,
        max_questions=questions,
        n_pairs=QUESTION_PAIRS,
        seed=world.number,
        plan=world.plan,
    )
    for question in interview:
        x, y = interview.contexts_of(question)
        unfair = question.gap > world.distances((x - y)[None, :])[0]
        interview.answer("unfair" if unfair else "acceptable")
    forecast, metered = interview.forecast(draws=draws), interview.expected_unfair_pairs
    seconds, came = time.perf_counter() - start, world.came(bandit)
    compared = Compared(
        _is_near(forecast.expected, came),
        float(np.mean([_is_near(forecast.expected, simulated) for simulated in forecast.unfair_pairs])),
        forecast.lower <= came <= forecast.upper,
        _is_near(metered, came),
    )
    print(
        f"{world.number:2}  {world.people.shape[1]:2} columns  {world.plan.candidates:2} candidates  "
        f"{world.plan.pairs:2} reviewed  {world.kind:12} {world.norm:3}  {questions:3} questions:  "
        f"forecast {forecast.expected:6.0f} ({forecast.lower:5.0f} to {forecast.upper:6.0f})  came {came:5}  "
        f"{'near' if compared.is_near else '    '} {'covers' if compared.covers else '      '}  "
        f"formula {metered:6.0f}  {seconds:3.0f} s",
        flush=True,
    )
    return compared


def _is_near(expected: float, came: float) -> bool:
    """Whether it is right to within a factor of two."""
    return abs(math.log2(max(expected, FEW) / max(came, FEW))) <= 1.0


def main() -> None:
    """Print a line for each world and number of questions, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, nargs="+", default=[0, 30])
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="number of the first world; above 19 to tune on others")
    parser.add_argument("--decisions", type=int, default=50)
    parser.add_argument("--draws", type=int, default=15, help="simulated worlds of a forecast")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", module="evenhand")
    for questions in options.questions:
        worlds = (TrueWorld.of(options.first + n, options.decisions) for n in range(options.worlds))
        rows = [compare(world, questions, options.draws) for world in worlds]
        names = ("is_near", "promised_near", "covers", "metered_near")
        near, promised, covering, metered = (sum(getattr(row, name) for row in rows) for name in names)
        print(
            f"{questions} questions: of {len(rows)} worlds, {near} within a factor of two, {promised:.0f} by the "
            f"forecasts' own spread, {covering} covered; the formula within a factor of two in {metered}",
            flush=True,
        )


if __name__ == "__main__":
    main()
