"""Bounds on the number of unfair pairs and rounds, and on the cost of inaccurate distances."""

from typing import Literal, TypedDict, Unpack

from evenhand._internal.checks import check_number, check_one_of, check_whole
from evenhand.theory.mistakes import Structure, distance_estimator_mistakes, ellipsoid_mistakes, n_unknowns

Learner = Literal["projected_volume", "ellipsoid"]

MISTAKES = {"projected_volume": distance_estimator_mistakes, "ellipsoid": ellipsoid_mistakes}


class FairnessOptions(TypedDict, total=False):
    """Options of the fairness bounds; see `fairness_rounds`."""

    structure: Structure
    shared: bool
    learner: Learner


def n_pairs(k: int) -> int:
    """k (k - 1) / 2, the number of unordered pairs.

    >>> n_pairs(5)
    10
    """
    k = check_whole("k", k, least=1)
    return k * (k - 1) // 2


def fairness_rounds(
    k: int,
    d: int,
    epsilon: float,
    norm: float,
    *,
    structure: Structure = "full",
    shared: bool = False,
    learner: Learner = "projected_volume",
) -> float:
    """Rounds in which a pair with feedback had its distance wrong by more than epsilon.

    The corollary to the paper's lemma on the distance estimators. Every epsilon-unfair round is one of them:
    gap > distance + epsilon and gap <= guess. `norm` is the bound on |A'A|_F that the learner was given. N is
    the learner's mistake bound at accuracy epsilon^2, because |g - c| > epsilon implies
    |g^2 - c^2| = |g - c| (g + c) >= |g - c|^2 > epsilon^2.
    - One learner per pair (the paper): N for each of k (k-1)/2 unordered pairs.
    - One `shared` learner: N. All guesses of a round come from the same knowledge set, and what is left after
      the round lies inside the half-space of the pair that was off, a cut through the centre or deeper. (The
      ellipsoid takes one cut at a time: it must take those through its centre before any other of the same
      round.)

    >>> round(fairness_rounds(5, 5, 0.01, 1.0)), round(fairness_rounds(5, 5, 0.01, 1.0, shared=True))
    (12487, 1249)
    """
    check_one_of("learner", learner, MISTAKES)
    pairs = n_pairs(k)
    squared = check_number("epsilon", epsilon, above=0) ** 2
    mistakes = MISTAKES[learner](n_unknowns(d, structure), squared, norm)
    return mistakes * (min(pairs, 1) if shared else pairs)


def fairness_loss(k: int, d: int, epsilon: float, norm: float, **options: Unpack[FairnessOptions]) -> float:
    """How many times a pair is epsilon-unfair, over all rounds.

    The paper's two theorems on FairnessLoss, rewards known or not; T is not in it. One learner per pair: each
    unfair pair is a mistake of its own learner, k (k-1)/2 N in all, N being the mistake bound at accuracy
    epsilon^2. One shared learner: at most N rounds with at most k (k-1)/2 unfair pairs each: the same
    number. What sharing saves for certain is rounds, not pairs: see `fairness_rounds`.

    >>> round(fairness_loss(5, 5, 0.01, 1.0))
    12487
    """
    rounds = fairness_rounds(k, d, epsilon, norm, **options)
    return rounds * n_pairs(k) if options.get("shared", False) else rounds


def loss_of_wrong_distances(k: int, epsilon: float, *, tight: bool = False) -> float:
    """Reward lost in a round whose distances are wrong by at most epsilon: k^3 epsilon.

    Or, if `tight`, k (k-1)/2 epsilon. For rewards in [-1, 1], any capacity. The paper tightens one pair after
    the other, k epsilon for each of k^2. All at once: sort the best fair p upwards and shorten every step
    between neighbours by epsilon, to 0 at least. Two candidates who still differ have lost at least one whole
    epsilon of their gap, so the new p respects the distances minus epsilon; those who do not differ respect
    anything. Nobody's probability rose or went below the lowest, so capacity and p >= 0 still hold. The one
    of rank j fell by (j - 1) epsilon at most; these add up to k (k-1)/2 epsilon.

    >>> loss_of_wrong_distances(5, 0.01), loss_of_wrong_distances(5, 0.01, tight=True)
    (1.25, 0.1)
    """
    epsilon = check_number("epsilon", epsilon, above=0)
    return n_pairs(k) * epsilon if tight else check_whole("k", k, least=1) ** 3 * epsilon
