"""The tuning constants of BayesPoint, with their reasons; all figures are measurements of `benchmarks/learners.py`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evenhand.metrics.verdicts import MemoryTuning


@dataclass(frozen=True)
class BayesPointTuning(MemoryTuning):
    """One value for each constant. A subclass of BayesPoint may set another record as its `tuning`."""

    # Updating a belief with a verdict.

    max_shrink: float = 0.999
    """Share of a direction's variance that one verdict may remove: keeps the covariance positive definite."""
    min_slope: float = 1e-9
    """A verdict whose likelihood slope is smaller changes nothing that double precision could keep."""
    known_variance: float = 1e-20
    """A direction whose variance is a smaller share of the largest is known; no verdict moves it."""
    min_of_blur: float = 0.3
    """A direction whose deviation is a smaller share of the blur is known; no verdict moves it.

    Thousands of verdicts on tiny differences, each a little evidence under the blur, added up without end: with
    candidates in 4 clusters plus noise of 1e-3 the bound rose from 1 to 128, and 52 to 259 pairs were unfair in 10,000
    rounds; with this limit 9 to 16, and 12 to 21 rounds flagged instead of up to 2,364 (d = k = 5, epsilon 0.01).
    """
    certain_score: float = 6.5
    """A verdict this many standard deviations inside has no slope that counts: phi(6.5) = 3e-10 < min_slope."""
    few_rows: int = 4
    """With so few verdicts it takes longer to find out which cannot matter than to process them."""
    batch_unknowns: int = 250
    """Up to so many unknowns the covariance stays in the cache from row to row; beyond, rows go in batches."""
    batch_rows: int = 256
    """Rows of a batch: more would cost more in scores, O(n^3), than they save in products."""
    max_supports: int = 600
    """Pairs that a kernel belief is made of. A round's time grows with their square."""
    supports_to_drop: int = 150
    """How many may come on top before as many are dropped."""
    max_review_rows: int = 64
    """Answers of one review that a kernel belief learns from, the least expected ones: pairs share candidates."""
    max_open_supports: int = 400
    """Answers that a kernel belief can still reprocess: each may be a support."""
    max_psd_rows: int = 2
    """Negative directions of the mean that become supports after each review."""
    exact_features: int = 128
    """Up to so many features the negative directions of a kernel belief's mean are eigenvectors."""
    lanczos_steps: int = 8
    """Steps beyond: the dimension of the space in which a negative direction is looked for."""
    max_kernel_free: int = 300
    """Up to so many unknowns a belief with a shaped prior has the covariance of all; beyond, it is a kernel belief."""
    max_bit_rows: int = 64
    """Pairs of a one-bit review that a kernel belief learns from, those least likely to be fair."""
    min_eigenvalue: float = 1e-14
    """Relative floor of a covariance's eigenvalues after moments were subtracted."""
    max_chance_fair: float = 0.999
    """Upper limit on the probability that no pair is unfair: its complement is a divisor."""

    @property
    def most_supports(self) -> int:
        """The number of supports at which some are dropped."""
        return self.max_supports + self.supports_to_drop

    # Learning from a review.

    max_blur: float = 1e-4
    """Thresholds are blurred by epsilon squared, but by no more than this,"""
    max_blur_of_prior: float = 0.1
    """nor by more than this share of the prior's standard deviation."""
    slip_rate: float = 0.01
    """Below this error rate wrong verdicts are slips, skipped and reported; above, they are expected and weighed."""
    contradiction: float = -5.0
    """A verdict with a lower score, in standard deviations, contradicts earlier ones."""
    max_doublings: int = 12
    """Maximum doublings of the bound because of one review that contradicts the prior and nothing else."""
    informative: float = 3.0
    """A verdict with a higher score taught nothing and is not remembered."""
    tolerated_contradictions: int = 3
    """After more contradictions than these, beyond what the error rate explains, the belief is widened."""
    widening: float = 4.0
    """Factor of the covariance when a belief is widened: then, and whenever epsilon halves.

    Half the epsilon needs a quarter of the variance, and a belief that became certain while it played low would not
    notice that it is too low: without this, the ends missed up to 86% of distances with epsilon=None, by up to 0.006.
    No variance is widened beyond the prior's. Epsilon halves with the number of reviews, however little each says:
    without that limit 200 reviews of one pair each gave metrics 3 to 10 times too large (d = 4, error_rate=None).
    """
    refit_passes: int = 50
    """Maximum passes in which a belief that disagrees with what is remembered is refitted to it; some 30 are taken.

    Fair verdicts on distances played low make a belief certain without lifting it, and in one run of twenty it is in
    the end thousands of deviations too low. What is remembered shows that: four or more verdicts contradict such a
    belief, and none any other (30 runs). At epsilon = 1e-5 the one of 16 seeds had a regret of 9.7 and was unfair until
    round 5,540; refitted, 1.8 and round 531 (known-reward, d = k = 3, 16,384 rounds).
    """
    min_reviews_to_check: int = 16
    checks_per_doubling: int = 8
    """What is remembered is compared with the belief every so many reviews, and in each doubling of their number."""
    max_products_to_refit: int = 30_000_000
    """A pass takes n m^2 products; where it would take more than this, from about 12 features on, there is none."""
    min_bit_error: float = 0.05
    """Least error rate assumed of a one-bit review.

    Moment matching of a bit is rough, and at face value becomes certain of what is wrong. At d = 5, k = 10 an exact
    reviewer's bits cost 190 unfair pairs and a regret of 72 at an error rate of 0.001, 198 and 25 at 0.05.
    """
    psd_tolerance: float = 1e-9
    """An eigenvalue of the mean counts as negative below minus this times the bound."""
    psd_steps: int = 4
    """Maximum steps, per feature, of the projection onto positive semidefinite matrices."""

    # Choosing the shape of the prior by evidence.

    ratios: tuple[float, ...] = (0.1, 0.3, 0.03, 1.0)
    """Shapes of the prior that are tried side by side with structure "auto"; the first one plays at the start."""
    kernel_ratios: tuple[float, ...] = (0.1, 0.3, 0.03)
    """The same where there are many unknowns: that all of them count alike is then out of the question."""
    min_evidence_rate: float = 1e-3
    """Least error rate at which evidence is added up: no answer counts as less likely.

    Where rates are learned it is the `usual_rate`, or the lowest that any shape finds if that is higher. A shape with a
    rate of its own blames the reviewer for what it does not explain: with 10% wrong and a metric of rank 3 the
    narrowest one found 25% wrong, was played, and had 12,134 unfair pairs in 200 decisions; now 4,956 (46 features).
    """
    max_weighed: int = 48
    """Answers of one review that count as evidence on the prior's shape."""
    more_evidence: float = 1.0
    """Log-evidence by which another shape must lead to be played."""
    hopeless_evidence: float = 30.0
    """A shape that lags behind the best by more is dropped for good."""

    # Playing a distance.

    end: float = 3.0
    """The ends of a squared distance lie this many standard deviations from its mean."""
    known: float = 0.5
    """A distance is known when its lower end is within this share of epsilon of its estimate, and its upper end within
    twice this share of the lower."""
    shade: float = 0.1
    """A known distance is played at least this share of epsilon below its estimate.

    Otherwise it would be flagged half the time, for ever: 1,300 flags of no consequence in 3,000 rounds at d = k = 5;
    with it about 60, for a few per cent more regret.
    """
    min_products_to_bound: int = 1_000_000
    """Rounds with fewer products of numbers are guessed faster than bounded."""

    # Learning error rates.

    honest_rates: tuple[float, ...] = (
        0.001, 0.003, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45,
    )  # fmt: skip
    misleading_rates: tuple[float, ...] = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.995)
    """The grid of error rates, also those of a reviewer who is wrong more often than right."""
    usual_rate: float = 0.05
    """Scale of the exponential prior: most reviewers err in about one answer of twenty, or less."""
    misleading_prior: float = 0.2
    """Prior of a rate above one half, as a share of that of one half."""
    soft_widths: tuple[float, ...] = (0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.35)
    """The grid of softness, besides zero: deviations of a reviewer's threshold, in distance."""
    soft_margin: float = 2.0
    """Log-likelihood per unknown by which a soft threshold must explain the answers better than a sharp one.

    Gaps are played where the belief says, so an error lowers what is played nearby, and later answers there agree with
    both explanations. The sharp one plays bolder and finds out. With 10% wrong, d = k = 5, three pairs a round, a
    margin of 5 in all took most for soft, at a regret of 47 in 1,500 rounds; two for each unknown left it at 17.
    """
    credible: float = 0.95
    """Probability mass between the ends of a reported rate."""

    # Smoothing, while error rates are learned.

    open_answers: int = 1000
    max_open_numbers: int = 1_000_000
    """Answers that can still be reprocessed: from the first to twice as many, fewer where each has many numbers."""
    min_new_answers: int = 8
    new_share: float = 0.25
    """Rates are updated after so many new answers: the first, or the second times the open ones if that is more."""
    rate_change: float = math.log(1.5)
    """Change of the log-odds of a reviewer's error for which all open answers are reprocessed."""
    width_change: float = 0.25
    """The same for softness: its change, as a share of the larger one,"""
    min_width_change: float = 0.002
    """if it is more than this."""
    max_iterations: int = 3
    """Maximum iterations: rates and belief depend on each other."""
    max_rate: float = 0.5
    """Maximum error rate an answer is processed at; at this rate it teaches nothing.

    A reviewer who is wrong more often than right could be read as saying the opposite, and in panels that halved
    unfair pairs (60 instead of 137). But such a reviewer may turn round once detected; and one who errs while looking
    at many pairs, and reports only the worst, is wrong in most reports without meaning the opposite: read that way
    she caused some 19,000 unfair pairs in 3,000 rounds, ignored 700.
    """
    trial_rate: float = 0.1
    """Error rate assumed on trial for a reviewer who seems to mislead: another metric may explain her better."""
    trial_widenings: tuple[float, ...] = (4.0, 16.0, 64.0)
    """Factors tried on the variance of the older belief: answers that seem wrong may be right, and it too certain.

    Without them a burst of 400 lies for another metric was believed for good: 3,100 unfair pairs in 4,000 rounds, and
    as many again in the next, the truth being taken for error at a rate of 0.04.
    """
    min_rate_to_explain: float = 0.005
    min_width_to_explain: float = 0.003
    """While every error rate and every softness is lower, no wider belief is tried: nothing is to be explained better.
    """
    trial_blur: float = 0.01
    """Blur of thresholds, which are squared gaps, when two explanations are compared."""
    bound_factors: tuple[float, ...] = (2.0, 4.0, 16.0, 0.5, 0.25)
    """Factors tried on the bound, when a reviewer seems to err and answers are few."""
    bound_answers: int = 40
    """Few are up to this many for each unknown. Later a belief hardly depends on the prior, and a trial does harm: with
    10% wrong at d = 3, one of 8 runs ended with a rate of 0.13."""
    better_bound: float = 10.0
    fewer_errors: float = 0.7
    """Log-likelihood by which another bound must explain the open answers better than errors do, and the share of the
    errors that may be left under it.

    An exact reviewer of a metric of norm 0.3 was taken to err in up to 15% of answers, and had 495 unfair pairs in
    three runs of 300 rounds (d = 5, k = 10, three pairs a round); now in 1%, with 181. With 10% wrong: 865 and 279,
    20%: 1,823 and 495. With norm 1 the same as before. With a margin of 20: 213, 375 and 703.
    """
    better_fit: float = 20.0
    """Log-likelihood by which one explanation must beat another; plus 1 per unknown, which fit more by chance."""


DEFAULT = BayesPointTuning()
