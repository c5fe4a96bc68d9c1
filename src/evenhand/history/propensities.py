"""Propensities: the chance each candidate had to be chosen, as recorded, or estimated by a stated model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from evenhand._internal.arrays import Floats, Mask
from evenhand._internal.checks import check_one_of
from evenhand._internal.randomness import Seed
from evenhand.errors import InvalidInput
from evenhand.history._cross_fitting import FOLDS, check_model, cross_fitted, fitted_model, folds_of, scikit_learn
from evenhand.history._padded import PaddedRounds, round_sums
from evenhand.history.conditional_logit import ConditionalLogit
from evenhand.history.inclusion import included
from evenhand.history.past_log import PastLog

Choice = Literal["auto", "separate", "competing"]
"""How a round was decided: each candidate separately, or all for a number of places."""

RELATIVE_FLOOR = 0.05
"""An estimated chance below this share of the mean counts as none: models cannot tell rarely from never.

The mean of the round where people compete for its places, and of the whole log where each is decided separately."""

FEWEST_OF_A_KIND = 2
"""Candidates chosen, and not chosen, that a model needs."""

CALIBRATION_FOLDS = 3
LARGEST_SCORE = 30.0  # Log-odds beyond this count as this: a classifier may say 0 or 1.


@dataclass(frozen=True, eq=False)
class Propensities:
    """The chance of each of N candidates to be chosen by past decisions."""

    values: Floats
    """(N,)."""
    floors: Floats
    """(N,), below which the chance counts as none: nothing can be estimated of such people."""
    model: str
    """What they are, in a sentence."""
    is_recorded: bool
    choice: Choice = "separate"
    is_logistic: bool = False
    """Estimated by (conditional) logistic regression on all rounds of the log: then `scores` are those of the model."""

    @property
    def is_supported(self) -> Mask:
        """(N,), who had a chance."""
        return np.asarray(self.values > self.floors)

    def scores(self, log: PastLog) -> Floats:
        """What each round adds to the gradient of the logistic model's likelihood, (n, d + 1)."""
        table = np.column_stack([log.contexts, np.ones(log.n_candidates)])
        return np.asarray(np.add.reduceat((log.chosen - self.values)[:, None] * table, log.starts[:-1], axis=0))


def recorded_propensities(log: PastLog) -> Propensities:
    """The probabilities in the log; whoever had probability 0 had no chance."""
    if log.probabilities is None:
        raise InvalidInput("the log must have probabilities, got none; estimate_propensities estimates them")
    impossible = np.flatnonzero(log.chosen & (log.probabilities <= 0.0))
    if len(impossible):
        who = log.ids[impossible[0]]
        raise InvalidInput(f"probabilities of chosen candidates must be > 0, got 0 for {who}, who was chosen")
    return Propensities(log.probabilities, np.zeros(log.n_candidates), "as recorded in the log", is_recorded=True)


def propensities_of(log: PastLog, *, seed: Seed = None) -> Propensities:
    """The recorded ones, or else estimates; where everybody was chosen, 1."""
    if log.probabilities is None and log.chosen.all():
        n = log.n_candidates
        return Propensities(np.ones(n), np.zeros(n), "1, since everybody was chosen", is_recorded=False)
    return recorded_propensities(log) if log.probabilities is not None else estimate_propensities(log, seed=seed)


def estimate_propensities(
    log: PastLog,
    *,
    model: Any = None,
    choice: Choice = "auto",
    calibrate: bool = True,
    folds: int = FOLDS,
    seed: Seed = 0,
) -> Propensities:
    """The chance of each candidate, from their context, cross-fitted: no round is predicted by a model that saw it.

    choice: "separate" if each candidate was decided on their own; "competing" if they competed for a number of places
    (in "auto", if all rounds filled the same number, or their capacity). model: None for logistic regression on
    standardised coordinates, conditional on the number of places if they competed; or any scikit-learn classifier, of
    whom the odds are used in the same way. calibrate: whether a classifier of yours is calibrated by a sigmoid
    (CalibratedClassifierCV) first.

    Decisions that were made by a rule have chances of 0 and 1, and no model changes that. The estimates are about
    people, not about the rule: of those whose contexts look alike to the model, which share was chosen. They are right
    if whatever else decided was unrelated to outcomes.
    """
    check_one_of("choice", choice, get_args(Choice))
    kind = _choice_of(log) if choice == "auto" else choice
    chosen = int(log.chosen.sum())
    if min(chosen, log.n_candidates - chosen) < FEWEST_OF_A_KIND:
        raise InvalidInput(
            f"chances can be estimated if at least {FEWEST_OF_A_KIND} candidates were chosen and "
            f"{FEWEST_OF_A_KIND} were not, got {chosen} chosen of {log.n_candidates}"
        )
    if model is None and kind == "competing":
        scores, words = _conditional_scores(log, folds, seed), "conditional logistic regression"
    else:
        scores, words = _classifier_scores(log, model, folds, seed, calibrate=calibrate)
    if kind == "competing":
        rounds = PaddedRounds.of(log.starts)
        values = rounds.flat(included(rounds.table(scores), rounds, log.places)[0])
        mean = np.repeat(round_sums(values, log.starts) / log.sizes, log.sizes)
        words += ", given the number of places of each round"
    else:
        values = 1.0 / (1.0 + np.exp(-scores))
        mean = np.full(log.n_candidates, values.mean())
    text = f"estimated by {words}; cross-fitted in {folds} folds of rounds"
    floors = RELATIVE_FLOOR * mean
    return Propensities(values, floors, text, is_recorded=False, choice=kind, is_logistic=model is None)


def _choice_of(log: PastLog) -> Choice:
    places, full = log.places, np.minimum(log.capacities, log.sizes)
    same = len(set(places.tolist())) == 1 or np.array_equal(places, full)
    return "competing" if same and np.any(places < log.sizes) else "separate"


def _conditional_scores(log: PastLog, folds: int, seed: Seed) -> Floats:
    scores = np.empty(log.n_candidates)
    for learn, predict in folds_of(log, folds, seed):
        part = log.take(learn[log.starts[:-1]])
        scores[predict] = ConditionalLogit.fitted(part.contexts, part.starts, part.chosen).scores(log.contexts[predict])
    return scores


def _classifier_scores(log: PastLog, model: Any, folds: int, seed: Seed, *, calibrate: bool) -> tuple[Floats, str]:
    """Log-odds by a classifier, and its name."""
    scikit_learn()
    from sklearn.base import clone
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    words = "logistic regression"
    if model is None:
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    else:
        check_model("model", model, ("fit", "predict_proba"))
        words = type(model).__name__
        if calibrate:
            model = CalibratedClassifierCV(model, method="sigmoid", cv=CALIBRATION_FOLDS)
            words += ", calibrated by a sigmoid"

    def fit(learn: Mask) -> Any:
        chosen = log.chosen[learn]
        if chosen.all() or not chosen.any():
            return lambda contexts: np.full(len(contexts), float(chosen[0]))
        fitted = fitted_model("past decisions", clone(model), log.contexts[learn], chosen)
        return lambda contexts: fitted.predict_proba(contexts)[:, 1]

    p = cross_fitted(log, fit, folds, seed)
    with np.errstate(divide="ignore"):
        return np.clip(np.log(p) - np.log1p(-p), -LARGEST_SCORE, LARGEST_SCORE), words
