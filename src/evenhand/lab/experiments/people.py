"""people: the judgements of real people, predicted and decided under; needs a folder of data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from evenhand.errors import InvalidInput
from evenhand.lab.experiment import Data, Experiment
from evenhand.lab.people import learners, peers
from evenhand.lab.people.findings import analyse
from evenhand.lab.people.learners import DEFAULT, LEARNERS, Contender
from evenhand.lab.people.online import FAVOURITE, KNOWN_MODEL, KNOWN_PERSON, NEAREST_METRIC, REVIEWERS, play_person
from evenhand.lab.people.peers import PEERS, installed
from evenhand.lab.people.pictures import draw
from evenhand.lab.people.prediction import VOTES, predict
from evenhand.lab.people.study import FORMS, Studies, load_studies
from evenhand.lab.store import Case, Columns, grid
from evenhand.schema.scales import Scale

NAME = "people"
CLAIM = "Flags of real people are predicted as well as by any peer, and decisions under their review become fair."

N_FOLDS = 5
BONUSES = (0.0, 0.2, 0.3, 0.35, 0.4)
"""Of the favourite; 0 is equal probabilities."""
FACTORS = (0.2, 0.3, 0.5, 1.0)
"""On the distances of the nearest metric."""
QUANTILES = (0.05, 0.1, 0.2)
"""Of the known model."""
N_SEEDS = 3
"""Of the default and of the floor it is compared with, under people's own ratings; everything else has one."""
SCALES: tuple[Scale, ...] = ("linear", "log", "quantile", "auto")


def no_data(quick: bool) -> NoReturn:
    """The sweep without data: a sentence that says what is missing."""
    raise InvalidInput(f"the experiment {NAME!r} needs data: pass --data DIR, a folder with files of {FORMS}")


def on(data: Data) -> Experiment:
    """The experiment on the studies in a folder."""
    studies = load_studies(data.folder)
    cases = partial(sweep, studies, data.scale, data.full)
    return Experiment(NAME, CLAIM, cases, partial(run, data.folder), analyse, draw)


def sweep(studies: Studies, scale: Scale, full: bool, quick: bool) -> list[Case]:
    """Everybody of both studies, by the usual contenders, reviewed by themselves.

    full: every learner, models of people as reviewers, and other scales, too. quick: three people, the default learner,
    100 rounds.
    """
    common = {"data": studies.digest, "scale": scale}
    names = learners.QUICK if quick else LEARNERS if full else learners.USUAL
    entries = {name: LEARNERS[name] for name in names}
    cases = []
    for name, study in (("ratings", studies.ratings), ("pairs", studies.pairs)):
        if study is not None:
            people = range(min(3, len(study.people)) if quick else len(study.people))
            cases += _predictions(name, entries, people, quick, common)
    if studies.ratings is not None:
        people = range(min(3, len(studies.ratings.people)) if quick else len(studies.ratings.people))
        shape = {"part": "online", "person": people, "n_folds": N_FOLDS, "rounds": 100 if quick else 500, "seed": 0}
        cases += _decisions(entries, REVIEWERS if full else REVIEWERS[:1], quick, common | shape)
        cases += _scales(entries, scale, common | shape) if full else []
    return cases


def _predictions(
    study: str, entries: Mapping[str, Contender], people: range, quick: bool, common: Mapping[str, Any]
) -> list[Case]:
    shape = {**common, "part": "predict", "study": study, "person": people, "n_folds": N_FOLDS, "seed": 0}
    cases = []
    for name, entry in entries.items():
        if entry.predicts:
            most = 100 if quick else entry.most_answers
            panels = [False] if entry.with_panel is None else [False, True]
            cases += grid(NAME, contender=name, panel=panels, most_answers=most, **shape)
    for name in peers.QUICK if quick else PEERS:
        if installed(name):
            cases += grid(NAME, contender=name, panel=False, most_answers=100 if quick else 1000, **shape)
    if study == "ratings":
        cases += grid(NAME, contender=VOTES, panel=False, most_answers=0, **shape)
    return cases


def _decisions(
    entries: Mapping[str, Contender], reviewers: Sequence[str], quick: bool, shape: Mapping[str, Any]
) -> list[Case]:
    """Floors and ceilings, and each learner at each caution; fewer contenders under a model of the person."""
    cases = []
    for reviewer in reviewers:
        own = {**shape, "reviewer": reviewer}
        more = {**own, "seed": range(1 if quick or reviewer != REVIEWERS[0] else N_SEEDS)}
        cases += grid(NAME, contender=FAVOURITE, panel=False, caution=BONUSES, **more)
        cases += grid(NAME, contender=KNOWN_PERSON, panel=False, caution=1.0, **own)
        cases += grid(NAME, contender=NEAREST_METRIC, panel=False, caution=FACTORS, **own)
        if installed("boosting"):
            cases += grid(NAME, contender=KNOWN_MODEL, panel=False, caution=QUANTILES, **own)
        for name, entry in entries.items():
            if entry.plays and (reviewer == REVIEWERS[0] or entry.with_panel is not None):
                cautions = entry.cautions[: 2 if quick else None if reviewer == REVIEWERS[0] else 3]
                cases += grid(NAME, contender=name, panel=False, caution=cautions, **more if name == DEFAULT else own)
                if entry.with_panel is not None and reviewer == REVIEWERS[0]:
                    cases += grid(NAME, contender=name, panel=True, caution=cautions[:3], **own)
    return cases


def _scales(entries: Mapping[str, Contender], scale: Scale, shape: Mapping[str, Any]) -> list[Case]:
    """The default learner with numbers on the other scales."""
    others = [other for other in SCALES if other != scale]
    usual = {"contender": DEFAULT, "panel": False, "caution": entries[DEFAULT].cautions[0], "reviewer": REVIEWERS[0]}
    return grid(NAME, **{**shape, **usual, "scale": others})


def run(folder: Path, *, part: str, data: str, person: int, scale: Scale, **settings: Any) -> Columns:
    """One case on the studies in this folder. data: the digest of its files, by which cases are told apart."""
    studies = load_studies(folder)
    if studies.digest != data:
        raise InvalidInput(f"the files in {folder} must stay as they are during a run, got others: run it again")
    if part == "predict":
        return predict(studies, person=person, scale=scale, **settings)
    assert studies.ratings is not None
    return play_person(studies.ratings, person=person, scale=scale, **settings)


EXPERIMENT = Experiment(NAME, CLAIM, no_data, partial(run, Path()), analyse, draw, on)
