"""Whether a learned feature map pays: flags of people predicted with each number as it is, or in four pieces.

    python -m scripts.feature_maps DIR

A logistic regression on |x - y| by column is a diagonal model; on pieces of each column it may follow any map of that
feature. DIR: as for `evenhand lab run people --data DIR`. Five folds, ten people: means of area and log-loss.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.lab.people.answers import POOL, PersonAnswers, RatedPairs
from evenhand.lab.people.peers import Logistic
from evenhand.lab.people.scores import area_under_curve, log_loss
from evenhand.lab.people.study import load_studies
from evenhand.schema.scales import Scale

STEPS = (30, 100, 300, 1000)
PIECES = 4
SCALES: tuple[Scale, ...] = ("linear", "log", "quantile")


def in_pieces(contexts: Floats) -> Floats:
    """Each column that is a number as linear pieces between its quantiles; columns with few values as they are."""
    columns = []
    for column in contexts.T:
        knots = np.unique(np.quantile(column, np.linspace(0.0, 1.0, PIECES + 1)))
        if len(np.unique(column)) <= PIECES:
            knots = knots[[0, -1]]
        columns += [np.clip(column, low, high) - low for low, high in pairwise(knots)]
    return np.stack(columns, axis=1)


def mapped(answers: PersonAnswers, images: Floats) -> PersonAnswers:
    """The same answers on pairs of images of the candidates."""
    differences = images[answers.rows[:, 0]] - images[answers.rows[:, 1]]
    return PersonAnswers(answers.rows, differences, answers.gaps, answers.flagged)


def main() -> None:
    """Print a row for each scale, map and number of answers."""
    study = load_studies(Path(sys.argv[1])).ratings
    assert study is not None
    for scale in SCALES:
        found: dict[tuple[str, int], list[tuple[float, float]]] = {}
        for person in range(len(study.people)):
            people = RatedPairs(study, person, scale, pool=POOL, n_folds=5, seed=0)
            maps = {"as it is": people.contexts, "in pieces": in_pieces(people.contexts)}
            for name, images in maps.items():
                for n in STEPS:
                    chances, tests = [], [people.test(fold) for fold in range(5)]
                    for fold, test in enumerate(tests):
                        model = Logistic(np.abs)
                        model.learn(mapped(people.training(fold).take(slice(0, n)), images))
                        chances.append(model.chance_flagged(mapped(test, images)))
                    flagged, chance = np.concatenate([test.flagged for test in tests]), np.concatenate(chances)
                    folds = np.repeat(np.arange(5), [len(test) for test in tests])
                    found.setdefault((name, n), []).append(
                        (area_under_curve(flagged, chance, folds), log_loss(flagged, chance))
                    )
        for (name, n), scores in found.items():
            area, loss = np.mean(scores, axis=0)
            print(f"{scale:10}{name:12}{n:6}{area:8.3f}{loss:8.3f}", flush=True)


if __name__ == "__main__":
    main()
