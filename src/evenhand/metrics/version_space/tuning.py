"""The tuning constants of the learners that keep a set of metrics, with their reasons."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evenhand.metrics.learner_settings import FINEST_SQUARE
from evenhand.metrics.verdicts import MemoryTuning


@dataclass(frozen=True)
class ProjectedVolumeTuning:
    """One value for each constant. A subclass of ProjectedVolume may set another record as its `tuning`."""

    # Points, and how they walk.

    min_samples: int = 200
    samples_per_unknown: int = 3
    """Points that represent K by default: the first, or the second times m if that is more."""
    block: int = 32
    """Points that walk side by side: their slacks fit the cache."""
    min_slack: float = 1e-300
    """A point on a face counts as this far inside, so that ratios to the slack stay finite."""
    min_variance: float = 1e-12
    """Relative to the previous coordinates: a cloud that has collapsed further (copies of one point) keeps this."""
    settled: float = 0.1
    """A cloud has settled when a sweep changes the log of its variance by less than this per dimension, plus 1."""
    max_growth_sweeps: int = 200
    """Maximum sweeps to fill a body; each lets a direction grow by a factor of several."""
    sweeps: int = 3
    sweeps_of_many: int = 2
    many_unknowns: int = 100
    """Sweeps after a cut: the first, or the second beyond the third. The centroid is then off by 0.05 to 0.2 standard
    deviations a direction (measured for 5, 10 and 20 features); at 5 features more sweeps saved no mistakes."""

    # The set K.

    negative: float = 1e-9
    """An eigenvalue counts as negative below minus this, relative to the bound."""
    reach: float = 1.5
    """K is taken to lie within this times sqrt(m(m+2)) standard deviations of its centroid: a convex body of unit
    covariance lies within sqrt(m(m+2)). The factor allows for a sampled covariance, not for its very worst direction,
    which with 3 m points may be a quarter of the true one; but only the tip of a cone reaches as far as that."""
    min_faces: int = 150
    faces_per_unknown: int = 4
    """Number of faces kept without a test: the first, or the second times m if that is more."""
    redundancy_tests: int = 16
    """If there are a quarter more, this many of the farthest are tested after each cut, and dropped if redundant."""
    finest_square: float = FINEST_SQUARE
    """Without this limit, and with the farthest faces dropped, flags of 1e-9 continued until a face that held K was
    dropped: the width of K rose from 1e-9 to 0.3, and pairs were unfair in bursts (d = 2, epsilon 1.5e-5)."""

    # Cutting K.

    enough_survivors: float = 0.1
    """Share of points that must survive a cut for the walk to go on from them."""
    stage_survivors: float = 0.25
    """If fewer do, the faces are first moved to where this share survives, in stages."""
    max_stages: int = 40
    """After this many stages the walk restarts from a point inside, found by a linear program."""
    sliver: float = 1e-6
    """A cut that leaves less than this, in standard deviations before it, is loosened until it does."""
    near_bound: float = 0.9
    """With a centroid beyond this share of the bound the truth may lie outside."""
    max_doublings: int = 40
    """Maximum doublings of the bound before verdicts count as inconsistent."""
    max_cone_cuts: int = 40
    """Maximum cuts, per review, of a centroid that is not positive semidefinite; the rest is left to later reviews."""

    # Linear programs over K.

    refinements: int = 6
    """Maximum times that an extent is tightened by new cuts."""
    worthwhile: float = 0.02
    """Tightening stops when two cuts gained less than this share of the way from the centre."""
    outside: float = 1e-9
    """Relative to the bound: an optimum outside the ball by less is not cut off."""
    box: float = 100.0
    """The box of the programs, in standard deviations per dimension. K reaches m + 1 of them at most, so an optimum
    that touches the box is none of K. Faces farther away are left out, to keep the solver's digits."""
    far_box: float = 1e5
    """The same when asking whether faces meet anywhere at all, even far from K."""
    wide: float = 1e-3
    """Relative to the bound: a set without a smaller standard deviation is wide."""
    widening: float = 1e-6
    """Extents are widened by this many standard deviations, far more than HiGHS's tolerances,"""
    rounding: float = 1e-13
    """and by this, relative to the largest value the bound allows: rounding of sums in double precision."""
    deepest: float = 10.0
    """The largest inscribed ball that is searched for, in standard deviations."""
    touching: float = 1e-8
    """Faces that miss each other by no more than this many standard deviations may be taken to touch."""
    max_tangents: int = 60
    """Maximum tangents of the ball added in the search for an inner point."""

    # The cylinder over K.

    near_ball: float = 0.5
    """Points beyond this share of the bound lend the ball their tangents, to represent it as faces,"""
    max_ball_tangents: int = 200
    """but no more than so many of them."""
    min_width: float = 1e-18
    """Least width of a thin direction, so that it can be divided by."""
    pivot: float = 1e-11
    """Smaller entries of a tableau whose rows have length about one count as zero."""
    max_pivots: int = 50
    """Maximum pivots per unknown of a chord's program; a chord cut short is still a chord of the shadow."""
    shadow_sweeps: int = 4
    """How often all points walk along all coordinates of the shadow."""


DEFAULT = ProjectedVolumeTuning()


@dataclass(frozen=True)
class DensityTuning(MemoryTuning):
    """The tuning constants of VersionSpace, with their reasons. A subclass may set another record as its `tuning`."""

    quantile: float = 0.05
    quantile_of_learned_rates: float = 0.1
    """The default quantiles to play. Answers that are often wrong teach little where hardly any metric disagrees: with
    30% wrong answers 0.05, 0.1 and 0.2 had 186, 113 and 142 unfair pairs at a regret of 29, 11 and 4 (d = 5, k = 10,
    1,200 rounds); with 10% wrong 27, 28 and 33 at 5.8, 4.4 and 3.1."""
    min_points: int = 300
    points_per_unknown: int = 3
    points_below: int = 10
    """Number of points: the first, the second times m, or enough for the third to lie below the quantile, whichever is
    largest. The 0.05-quantile of 300 points rests on 15 of them."""
    least_below: int = 4
    """Minimum number of points below the quantile; half of them may be gone before the points walk."""
    least_to_bound: int = 64
    """Minimum number of candidates for which bounds on all distances save more than they cost."""
    effective_share: float = 0.5
    """The points walk when their effective number falls below this share."""
    enough_survivors: float = 0.1
    """A hard cut that fewer points survive is approached in stages,"""
    stage_survivors: float = 0.25
    """each of which this share survives,"""
    max_stages: int = 40
    """up to this many stages."""
    sweeps: int = 2
    soft_sweeps: int = 6
    """How often a walk takes every point along every axis, after cuts and where answers are soft."""
    promised_soft_sweeps: int = 12
    """The same where the error rate is fixed, and a number of flags promised."""
    first_sweeps: int = 30
    """The same to fill the set of all metrics from a point inside it."""
    window: float = 8.0
    """How far one move may lead where answers are soft, in standard deviations: farther places are rarely accepted."""
    max_tries: int = 200
    """Places tried on a chord. Each rejection halves it on average: a point that finds none stays where it is."""
    min_cut: float = 0.01
    min_cut_of_quantile: float = 0.2
    """An answer that cuts off less than this share is skipped, which loses little. The first, or the second times the
    quantile if that is less: a tight pair without a flag cuts off at most the quantile."""
    near: float = 10.0
    """A hard face farther than this many standard deviations from all points is dropped,"""
    dropped: float = math.exp(-9.0)
    """and what lies behind it, less than this share of a log-concave density, counts as gained."""
    near_soft: float = 6.0
    """A soft answer farther than this many standard deviations from the mean is settled: right for all, or wrong."""
    far_less: float = 3.0
    """Points that agree with an answer are dropped when their log-mass is lower by this than that of the others."""
    max_soft: int = 5000
    """Maximum soft answers that a walk looks at: those nearest to the mean, in standard deviations. With the newest
    instead, answers that kept the density together were forgotten: 884 pairs were unfair instead of 86 (30% of answers
    wrong, d = 5, k = 10, 1,500 rounds). With 2,500 it happened in one of five runs of 6,000 rounds."""
    min_scale: float = 1e-12
    """Minimum length of an axis, relative to the bound."""
    near_bound: float = 0.5
    """The mean norm of all metrics of norm <= B is B - B / (m + 1). When that of the density comes nearer to B than
    this share of the difference, it leans on the ball, and the truth may lie outside: the bound is doubled,"""
    max_doublings: int = 40
    """up to this many times."""
    refuting_chance: float = 1e-6
    """An error rate is refuted when the probability of as many wrong answers, or more, is below this."""
    doubtful_chance: float = 0.05
    redraw_growth: float = 1.2
    """The density is drawn again when the probability of as many wrong answers is below the first, and the number of
    answers has grown by the factor of the second since the last attempt. Points misled by lies had a mass e^25 times
    too small, and 102 rounds were flagged where 86 were proved; 49 with points drawn again."""
    slip_rate: float = 0.01
    """Below this error rate a wrong answer is a slip that is reported; above, it is expected."""

    def usual_quantile(self, error_rate: float | None) -> float:
        """The quantile to play at an error rate, None if rates are learned."""
        return self.quantile_of_learned_rates if error_rate is None else self.quantile

    def usual_points(self, n_unknowns: int, quantile: float) -> int:
        """How many points represent a density."""
        return max(self.min_points, self.points_per_unknown * n_unknowns, math.ceil(self.points_below / quantile))
