"""What the runs on people show: means and standard errors over people, and the checks on the default learner."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from evenhand._internal.arrays import Floats
from evenhand.lab.experiment import Check, Findings
from evenhand.lab.people.learners import DEFAULT, LEARNERS
from evenhand.lab.people.online import CEILINGS, FLOORS, REVIEWERS
from evenhand.lab.people.peers import EXTRA, PEERS
from evenhand.lab.people.prediction import VOTES
from evenhand.lab.people.scores import Reliability, calibration_error

PANEL = " after the panel"
BIN_COLUMNS = ("count", "predicted", "flagged")
SCORES = ("area", "area_within", "log_loss")
ONLINE = ("early", "late", "gain", "binding_flagged", "no_metric", "lapses")

NEAR_AREA, NEAR_LOSS = 0.01, 0.03
"""How near to the best peer the area under the curve and the log-loss have to be."""
FROM_ANSWERS = 10
LOSS_FROM = 300
PANEL_AREA = 0.85
CALIBRATED = 0.05
"""How far predicted chances may be from the shares that were flagged, on average."""
FRONTIER = {0.38: 1.8, 0.46: 2.6}
"""At this share of the attainable gain, the most unfair pairs a round in the late rounds."""
FELL = 0.9
"""The share of people for whom late rounds have fewer unfair pairs than early ones."""
NEAR_CAUTION = 0.03
MOST_LAPSES = 0.05
"""Ratings that are frozen never contradict themselves."""


def analyse(table: pl.DataFrame) -> Findings:
    """Means over people, the checks of the default learner, and what the figure needs."""
    table = table.with_columns(
        who=pl.col("contender") + pl.when(pl.col("panel")).then(pl.lit(PANEL)).otherwise(pl.lit(""))
    )
    predicted, played = _of_part(table, "predict"), _of_part(table, "online")
    checks: list[Check] = []
    shown: list[pl.DataFrame] = []
    numbers: dict[str, Any] = {}
    if len(predicted):
        means = over_people(predicted, ["study", "who", "answers"], SCORES)
        means = means.join(_calibration(predicted), on=["study", "who", "answers"], how="left")
        numbers |= {"predicted": means, "bins": _bins(predicted)}
        checks += _prediction_checks(means)
        shown.append(means)
    if len(played):
        missing = [name for name in ONLINE if name not in played.columns]  # in results of before
        played = played.with_columns(pl.lit(None, pl.Float64).alias(name) for name in missing)
        played = played.with_columns(fell=(pl.col("late") < pl.col("early")).cast(pl.Float64))
        usual = played["scale"].mode().sort()[0]
        means = over_people(played, ["reviewer", "who", "scale", "caution"], ONLINE)
        means = means.join(_people_who_fell(played), on=["reviewer", "who", "scale", "caution"], how="left")
        numbers |= {"played": means.filter(pl.col("scale") == usual)}
        checks += _online_checks(numbers["played"])
        checks += _diagnosis_checks(played)
        shown.append(means)
    checks.append(_all_peers(predicted))
    return Findings(tuple(checks), pl.concat(shown, how="diagonal_relaxed"), numbers)


def _of_part(table: pl.DataFrame, part: str) -> pl.DataFrame:
    return table.filter(pl.col("part") == part)


def over_people(table: pl.DataFrame, by: Sequence[str], values: Sequence[str]) -> pl.DataFrame:
    """The mean of each value over people, and its standard error as NAME_se; seeds are averaged for each person first.

    >>> runs = pl.DataFrame({"who": ["a"] * 3, "person": [0, 0, 1], "late": [1.0, 3.0, 4.0]})
    >>> over_people(runs, ["who"], ["late"]).row(0)
    ('a', 3.0, 1.0, 2)
    """
    each = table.group_by([*by, "person"], maintain_order=True).agg(
        pl.col(name).fill_nan(None).mean() for name in values
    )
    columns = []
    for name in values:
        error = pl.col(name).std() / pl.col(name).count().cast(pl.Float64).sqrt()
        columns += [pl.col(name).mean(), error.alias(f"{name}_se")]
    return each.group_by(list(by), maintain_order=True).agg(*columns, people=pl.len().cast(pl.Int64))


def _people_who_fell(played: pl.DataFrame) -> pl.DataFrame:
    """The share of people for whom late rounds have fewer unfair pairs, means over seeds compared."""
    by = ["reviewer", "who", "scale", "caution"]
    each = played.group_by([*by, "person"], maintain_order=True).agg(pl.col("early", "late").mean())
    return each.group_by(by, maintain_order=True).agg(fell=(pl.col("late") < pl.col("early")).mean())


def _bins(predicted: pl.DataFrame) -> dict[tuple[str, str, int], Reliability]:
    """The reliability of each contender on each study, after each number of answers, over all people."""
    found = {}
    for (study, who, n), rows in predicted.group_by(["study", "who", "answers"], maintain_order=True):
        count, chance, flagged = (np.sum(rows[f"bin_{name}"].to_list(), axis=0) for name in BIN_COLUMNS)
        found[str(study), str(who), int(str(n))] = Reliability(count.tolist(), chance.tolist(), flagged.tolist())
    return found


def _calibration(predicted: pl.DataFrame) -> pl.DataFrame:
    rows = [
        {"study": study, "who": who, "answers": n, "calibration_error": calibration_error([table])}
        for (study, who, n), table in _bins(predicted).items()
    ]
    return pl.DataFrame(rows).with_columns(pl.col("answers").cast(predicted["answers"].dtype))


# The checks.


def _prediction_checks(means: pl.DataFrame) -> list[Check]:
    checks: list[Check | None] = []
    for study in means["study"].unique(maintain_order=True):
        here = means.filter(pl.col("study") == study)
        own = here.filter(pl.col("who") == DEFAULT)
        rivals = here.filter(pl.col("who").is_in([name for name in PEERS if name != "constant"]))
        areas = {"area": "area under the curve"}
        if study == "ratings":  # pairs were judged at one gap
            areas["area_within"] = "area under the curve within a gap"
        checks += [
            _near_best(f"{study}: {what}", own, rivals, area, most=-NEAR_AREA, start=FROM_ANSWERS)
            for area, what in areas.items()
        ]
        checks += [
            _near_best(f"{study}: log-loss", own, rivals, "log_loss", most=NEAR_LOSS, start=LOSS_FROM),
            _near_best(
                f"{study}: log-loss against a constant", own, here.filter(pl.col("who") == "constant"), "log_loss"
            ),
        ]
        late = own.filter(pl.col("answers") >= LOSS_FROM).sort("answers")
        if len(late):
            off = dict(late.select("answers", "calibration_error").iter_rows())
            what = f"{study}: mean distance of predicted chances from the shares flagged"
            measured = "; ".join(f"n = {n}: {each:.3f}" for n, each in off.items())
            checks.append(Check(what, measured, f"at most {CALIBRATED}", max(off.values()) <= CALIBRATED))
        if study == "ratings":
            first = here.filter((pl.col("who") == DEFAULT + PANEL) & (pl.col("answers") == 0))
            area = float(first["area"][0]) if len(first) else math.nan
            what = f"{study}: area under the curve without own answers, after the panel"
            checks.append(Check(what, f"{area:.3f}", f"at least {PANEL_AREA}", area >= PANEL_AREA))
    return [check for check in checks if check is not None]


def _near_best(
    what: str, own: pl.DataFrame, rivals: pl.DataFrame, value: str, *, most: float = 0.0, start: int = 0
) -> Check | None:
    """Whether the default is within `most` of its best rival (below 0: of the highest value) at each n from `start`."""
    higher = most < 0
    best = rivals.group_by("answers").agg(best=pl.col(value).max() if higher else pl.col(value).min())
    both = own.filter(pl.col("answers") >= start).join(best, on="answers").sort("answers")
    if not len(both):
        return None
    off = (both["best"] - both[value]) if higher else (both[value] - both["best"])
    measured = "; ".join(
        f"n = {n}: {mine:.3f} to {theirs:.3f}" for n, mine, theirs in both.select("answers", value, "best").iter_rows()
    )
    return Check(
        f"{what}, default to best peer", measured, f"within {abs(most):g} at each n", bool(max(off) <= abs(most))
    )


def unfair_at(points: Mapping[float, float], gain: float) -> float:
    """The unfair pairs at this gain, linear between the points (gain: unfair pairs); NaN beyond them.

    >>> unfair_at({0.25: 1.0, 0.75: 3.0}, 0.5)
    2.0
    """
    gains = sorted(points)
    if not gains or not gains[0] <= gain <= gains[-1]:
        return math.nan
    return float(np.interp(gain, gains, [points[each] for each in gains]))


def _online_checks(means: pl.DataFrame) -> list[Check]:
    own = means.filter((pl.col("who") == DEFAULT) & (pl.col("reviewer") == REVIEWERS[0])).sort("caution")
    points = dict(zip(own["gain"], own["late"], strict=True))
    checks = []
    for gain, most in FRONTIER.items():
        found = unfair_at(points, gain)
        measured = f"{found:.2f}" if math.isfinite(found) else f"gains from {min(points):.2f} to {max(points):.2f} only"
        checks.append(
            Check(
                f"unfair pairs a late round at {gain} of the attainable gain",
                measured,
                f"at most {most}",
                found <= most,
            )
        )
    usual = own.filter(pl.col("caution") == LEARNERS[DEFAULT].cautions[0])
    fell = float(usual["fell"][0])
    early, late = float(usual["early"][0]), float(usual["late"][0])
    people = f"for {fell:.0%} of {usual['people'][0]} people, {early:.2f} to {late:.2f} a round"
    checks.append(Check("unfair pairs become fewer", people, f"for at least {FELL:.0%}", fell >= FELL))
    flagged = {q: share for q, share in own.select("caution", "binding_flagged").iter_rows() if share is not None}
    checks.append(
        Check(
            "the share of binding reviewed pairs that are flagged in the second half is the quantile played",
            "; ".join(f"{q:g}: {share:.3f}" for q, share in flagged.items()),
            f"within {NEAR_CAUTION}",
            all(abs(share - q) <= NEAR_CAUTION for q, share in flagged.items()),
        )
    )
    return checks


def _diagnosis_checks(played: pl.DataFrame) -> list[Check]:
    """Whether the usual learner notices that people follow no metric, and does not call that lapses."""
    usual = (pl.col("who") == DEFAULT) & (pl.col("reviewer") == REVIEWERS[0])
    own = played.filter(
        usual & (pl.col("caution") == LEARNERS[DEFAULT].cautions[0]) & pl.col("no_metric").is_not_null()
    )
    if not len(own):
        return []
    each = own.group_by("person").agg(pl.col("no_metric").mean(), pl.col("lapses").fill_nan(None).max())
    noticed = float(np.mean(each["no_metric"].to_numpy() >= 0.5))
    most = float(np.max(each["lapses"].drop_nulls().to_numpy(), initial=0.0))
    return [
        Check(
            "that no metric fits is noticed",
            f"for {noticed:.0%} of {len(each)} people",
            f"for at least {FELL:.0%}",
            noticed >= FELL,
        ),
        Check(
            "estimated lapses of people with frozen ratings, at any time",
            f"up to {most:.1%}",
            f"at most {MOST_LAPSES:.0%}",
            most <= MOST_LAPSES,
        ),
    ]


def _all_peers(predicted: pl.DataFrame) -> Check:
    there = set(predicted["contender"]) if len(predicted) else set()
    missing = [name for name in PEERS if name not in there]
    measured = f"without {', '.join(missing)}; all: the full run after {EXTRA}" if missing else "all"
    return Check("peers compared with", measured, "all", not missing)


def in_order(names: Iterable[str]) -> list[str]:
    """Contenders in the order of the registries: evenhand's, after the panel, votes, peers, floors, ceilings."""
    order = [name + end for end in ("", PANEL) for name in LEARNERS] + [VOTES, *PEERS, *FLOORS, *CEILINGS]
    known = set(names)
    return [name for name in order if name in known]


def curve(means: pl.DataFrame, who: str, value: str) -> tuple[Floats, Floats, Floats]:
    """Numbers of answers, the value after each, and its standard error."""
    rows = means.filter(pl.col("who") == who).sort("answers")
    return rows["answers"].to_numpy(), rows[value].to_numpy(), rows[f"{value}_se"].fill_null(0.0).to_numpy()
