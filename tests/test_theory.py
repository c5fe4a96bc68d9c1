"""The bounds: what they rest on is checked against bodies, programmes and sequences, and learners are held to them."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from evenhand import theory
from evenhand.errors import InvalidInput

Floats = NDArray[np.float64]

seeds = st.integers(0, 2**32 - 1)
accuracies = st.floats(1e-6, 0.5)


# --- Bodies ---------------------------------------------------------------------------------------------------------


def random_polygon(rng: np.random.Generator) -> Floats:
    """A convex polygon, counter-clockwise, its corners on an ellipse; anything from fat to thin."""
    angles = np.sort(rng.uniform(0, 2 * np.pi, rng.integers(5, 12)))
    return np.column_stack([np.cos(angles), rng.uniform(0.05, 1) * np.sin(angles)])


def area_and_centroid(polygon: Floats) -> tuple[float, Floats]:
    """The shoelace formulas."""
    following = np.roll(polygon, -1, axis=0)
    cross = polygon[:, 0] * following[:, 1] - following[:, 0] * polygon[:, 1]
    area = cross.sum() / 2
    return float(area), ((polygon + following) * cross[:, None]).sum(axis=0) / (6 * area)


def clip(polygon: Floats, u: Floats, threshold: float) -> Floats:
    """The part of a convex polygon with u.x <= threshold."""
    height = polygon @ u - threshold
    kept: list[Floats] = []
    for here, there, x, y in zip(height, np.roll(height, -1), polygon, np.roll(polygon, -1, axis=0), strict=True):
        if here <= 0:
            kept.append(x)
        if here * there < 0:
            kept.append(x + (y - x) * here / (here - there))
    return np.array(kept)


def extent(polygon: Floats, u: Floats) -> float:
    """The width along u."""
    return float(np.ptp(polygon @ u))


def least_width(polygon: Floats) -> tuple[float, Floats]:
    """The smallest width of a convex polygon and its direction: one of the normals of its edges."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    edges = edges[np.linalg.norm(edges, axis=1) > 1e-13]
    normals = np.column_stack([-edges[:, 1], edges[:, 0]]) / np.linalg.norm(edges, axis=1)[:, None]
    widths = [extent(polygon, normal) for normal in normals]
    return min(widths), normals[int(np.argmin(widths))]


@given(sides=st.lists(st.floats(0.01, 10), min_size=1, max_size=8))
def test_a_box_holds_the_ball_and_its_shadow_does_not_outgrow_it(sides: list[float]) -> None:
    """Boxes: the ball fits, and dropping a side multiplies the volume by 1 / side, within the promised growth."""
    n, width = len(sides), min(sides)
    assert theory.inscribed_radius(n, width) <= width / 2
    assert 1 / width <= theory.projection_growth(n, width) * (1 + 1e-12)


@pytest.mark.parametrize("n", range(1, 12))
def test_the_regular_simplex_holds_the_ball(n: int) -> None:
    """Regular simplices, the extreme bodies of Steinhagen's inequality, contain the ball; up to n = 2 just so."""
    corners = np.eye(n + 1)
    radius = 1 / math.sqrt(n * (n + 1))  # of the inscribed ball, edge sqrt(2)
    half = (n + 1) // 2
    u = np.r_[np.full(half, 1 / half), np.full(n + 1 - half, -1 / (n + 1 - half))]  # between two opposite faces
    width = float(np.ptp(corners @ (u / np.linalg.norm(u))))
    assert theory.inscribed_radius(n, width) <= radius * (1 + 1e-12)
    if n <= 2:
        assert theory.inscribed_radius(n, width) == pytest.approx(radius)


@given(seed=seeds)
def test_a_simplex_is_no_flatter_than_its_ball_allows(seed: int) -> None:
    """Random simplices: the inscribed radius is at least the smallest altitude, a width, over n + 1."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    corners = rng.normal(size=(n + 1, n))
    barycentric = np.linalg.inv(np.column_stack([corners, np.ones(n + 1)]))  # column i: affine form, 1 at corner i
    altitudes = 1 / np.linalg.norm(barycentric[:n], axis=0)
    radius = 1 / (1 / altitudes).sum()
    assert radius >= theory.inscribed_radius(n, float(altitudes.min())) * (1 - 1e-9)


@given(seed=seeds)
def test_a_polygon_projected_on_a_line_grows_no_more_than_promised(seed: int) -> None:
    """The length of any shadow of a polygon is at most `projection_growth` times its area."""
    rng = np.random.default_rng(seed)
    polygon = random_polygon(rng)
    u = rng.normal(size=2)
    u /= np.linalg.norm(u)
    area, _ = area_and_centroid(polygon)
    width, _ = least_width(polygon)
    assert extent(polygon, u) <= theory.projection_growth(2, width) * area * (1 + 1e-9)


@given(seed=seeds)
def test_a_shifted_cut_through_the_centroid_removes_its_share(seed: int) -> None:
    """A cut that misses the centroid by as much as thin directions may cause still takes `removed_fraction` away."""
    rng = np.random.default_rng(seed)
    polygon = random_polygon(rng)
    u = rng.normal(size=2)
    area, centroid = area_and_centroid(polygon)
    m, accuracy = 2, extent(polygon, u)
    shift = math.sqrt(m) / 2 * accuracy / (8 * m * (m + 1) ** 2)
    kept, _ = area_and_centroid(clip(polygon, u, float(u @ centroid) + shift))
    assert 1 - kept / area >= theory.removed_fraction()


@pytest.mark.parametrize("m", [2, 3, 10, 100, 1000])
def test_the_worst_cone_still_loses_its_share(m: int) -> None:
    """The tip of a cone cut at its centroid, the body with the smallest share, leaves little room above the promise."""
    shift = math.sqrt(m) / 2 / (8 * m * (m + 1) ** 2)  # for accuracy and height 1
    tip = (m / (m + 1) - shift) ** m
    assert theory.removed_fraction() <= tip
    if m == 1000:
        assert tip < 1.06 * theory.removed_fraction()


@given(seed=seeds, share=st.floats(0, 0.99))
def test_a_cut_through_an_inexact_centre_removes_its_share(seed: int, share: float) -> None:
    """A centre off by t standard deviations costs no more than t of the volume (Bertsimas and Vempala)."""
    rng = np.random.default_rng(seed)
    polygon = random_polygon(rng)
    u = rng.normal(size=2)
    area, centroid = area_and_centroid(polygon)
    moments = sum(
        (area_and_centroid(np.array([centroid, x, y]))[0] * (np.outer(x - centroid, x - centroid)
         + np.outer(y - centroid, y - centroid) + np.outer(x + y - 2 * centroid, x + y - 2 * centroid)) / 12)
        for x, y in zip(polygon, np.roll(polygon, -1, axis=0), strict=True)
    )  # fmt: skip
    deviation = math.sqrt(float(u @ moments @ u) / area)
    error = share / math.e
    kept, _ = area_and_centroid(clip(polygon, u, float(u @ centroid) + error * deviation))
    assert 1 - kept / area >= theory.removed_fraction(centre_error=error)


# --- Mistakes -------------------------------------------------------------------------------------------------------


@given(seed=seeds)
def test_fewer_unknowns_than_entries_lose_nothing(seed: int) -> None:
    """m unknowns carry every squared distance, with the norms of G and zz' unchanged."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 7))
    A, z = rng.normal(size=(d, d)), rng.normal(size=d)
    rows, columns = np.triu_indices(d)
    scale = np.where(rows == columns, 1, math.sqrt(2))
    svec_G, svec_zz = (scale * M[rows, columns] for M in (A.T @ A, np.outer(z, z)))
    assert len(svec_G) == theory.n_unknowns(d)
    assert svec_G @ svec_zz == pytest.approx(np.sum((A @ z) ** 2))
    assert np.linalg.norm(svec_G) == pytest.approx(np.linalg.norm(A.T @ A))
    assert np.linalg.norm(svec_zz) == pytest.approx(z @ z)


@pytest.mark.parametrize("mistakes", [theory.distance_estimator_mistakes, theory.ellipsoid_mistakes])
@given(m=st.integers(1, 60), epsilon=accuracies, norm=st.floats(0.2, 50), more=st.floats(1.01, 10))
def test_mistakes_grow_with_unknowns_norms_and_accuracy(
    mistakes: Any, m: int, epsilon: float, norm: float, more: float
) -> None:
    """More unknowns, a larger bound on them or a finer accuracy never lower the bound; only the ratio counts."""
    here = mistakes(m, epsilon, norm)
    assert here <= mistakes(m + 1, epsilon, norm)
    assert here <= mistakes(m, epsilon / more, norm)
    assert here <= mistakes(m, epsilon, norm * more)
    assert mistakes(m, epsilon * more, norm, 4.0 * more) == pytest.approx(here)


@pytest.mark.parametrize("mistakes", [theory.distance_estimator_mistakes, theory.ellipsoid_mistakes])
@given(accuracy=accuracies, truth=st.floats(-1, 1))
def test_bisection_keeps_the_bound(mistakes: Any, accuracy: float, truth: float) -> None:
    """One unknown: guessing the middle of an interval errs no more often than promised, whatever the truth."""
    low, high, count = -1.0, 1.0, 0
    for _ in range(60):
        guess = (low + high) / 2
        count += abs(guess - truth) > accuracy
        low, high = (low, guess) if guess > truth else (guess, high)
    assert count <= mistakes(1, accuracy, 1.0, 1.0)


def test_the_bound_for_one_unknown_is_reached() -> None:
    """With the truth at the end of the interval bisection makes exactly as many mistakes as an integer may."""
    accuracy, low, count = 0.01, 0.0, 0
    while 1 - low > accuracy:
        low, count = (low + 1) / 2, count + 1
    assert count == math.floor(theory.distance_estimator_mistakes(1, accuracy, 1.0, 1.0))


@pytest.mark.parametrize("m", [2, 3, 5, 8])
@pytest.mark.parametrize("adversary", ["longest axis", "barely too wide", "random"])
def test_the_ellipsoid_keeps_the_bound(m: int, adversary: str) -> None:
    """Central cuts stop within the bound, and no half-axis falls below a / sqrt(2 (m + 1)), whoever picks u."""
    rng, accuracy = np.random.default_rng(m), 0.02
    P, cuts, idle = np.eye(m), 0, 0
    while idle < 200:
        values, axes = np.linalg.eigh(P)
        u = axes[:, -1] if adversary == "longest axis" else rng.normal(size=m) @ axes.T
        u /= np.linalg.norm(u)
        if adversary == "barely too wide" and values[0] < accuracy**2 < values[-1]:
            share = rng.uniform(1, 1.01) * (accuracy**2 - values[0]) / (values[-1] - values[0])
            u = math.sqrt(1 - min(share, 1)) * axes[:, 0] + math.sqrt(min(share, 1)) * axes[:, -1]
        if u @ P @ u <= accuracy**2:
            idle += 1
            continue
        idle, cuts = 0, cuts + 1
        b = P @ u / math.sqrt(u @ P @ u)
        P = m**2 / (m**2 - 1) * (P - 2 / (m + 1) * np.outer(b, b))
        assert np.linalg.eigvalsh(P)[0] >= accuracy**2 / (2 * (m + 1)) * (1 - 1e-6)
    assert 0 < cuts <= theory.ellipsoid_mistakes(m, accuracy, 1.0, 1.0)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("thinning", [0, 30])
def test_projected_volume_in_the_plane_keeps_the_bound(seed: int, thinning: int) -> None:
    """Two unknowns, an adversary who knows the truth: mistakes stay below the bound, also once a direction is thin."""
    rng, accuracy = np.random.default_rng(seed), 0.01
    thin = accuracy / (8 * 2 * 9)
    truth = rng.uniform(-0.7, 0.7, size=2)
    angles = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    K = np.column_stack([np.cos(angles), np.sin(angles)])
    S: list[Floats] = []
    mistakes = 0
    for t in range(300):
        if S:
            frame = np.array([S[0], [-S[0][1], S[0][0]]])
            z = frame.T @ np.array([(K @ s).min() + extent(K, s) / 2 for s in frame])
        else:
            z = area_and_centroid(K)[1]
        u = np.array([1.0, 0.0]) if t < thinning else z - truth
        u /= np.linalg.norm(u)
        error = float(u @ (z - truth))
        mistakes += abs(error) > accuracy
        if t >= thinning and abs(error) <= accuracy:
            break
        K = clip(K, u, float(u @ z)) if error > 0 else clip(K, -u, float(-u @ z))
        if not S and least_width(K)[0] <= thin:
            S.append(least_width(K)[1])
    assert abs(error) <= accuracy
    assert bool(S) or not thinning
    assert 0 < mistakes <= theory.distance_estimator_mistakes(2, accuracy, 1.0, 1.0, thin=thin)


def test_the_thinness_is_the_largest_that_the_proof_allows() -> None:
    """It beats the published one by a third of the bound; beyond it there is no bound."""
    m, accuracy = 15, 2.5e-5
    most, published = theory.thinness(m, accuracy), accuracy**2 / (16 * m * (m + 1) ** 2)
    usual = theory.distance_estimator_mistakes(m, accuracy, 1.0, 1.0)
    assert usual < 0.75 * theory.distance_estimator_mistakes(m, accuracy, 1.0, 1.0, thin=published)
    assert theory.distance_estimator_mistakes(m, accuracy, 1.0, 1.0, centre_error=0.1) > usual
    with pytest.raises(
        InvalidInput, match=r"thin must be a number > 0 and <= 8\.138020833333333e-10, got 8\.219401041666666e-10"
    ):
        theory.distance_estimator_mistakes(m, accuracy, 1.0, 1.0, thin=1.01 * most)


def test_the_orders_in_the_unknowns_are_as_the_papers_say() -> None:
    """Doubling m about doubles the centroid's bound and quadruples the ellipsoid's, up to the logarithm."""
    volume, ellipsoid = theory.distance_estimator_mistakes, theory.ellipsoid_mistakes
    assert 2 < volume(200, 1e-6, 1.0) / volume(100, 1e-6, 1.0) < 2.2
    assert 4 < ellipsoid(200, 1e-6, 1.0) / ellipsoid(100, 1e-6, 1.0) < 4.3


# --- Fairness -------------------------------------------------------------------------------------------------------


@given(k=st.integers(2, 30), d=st.integers(1, 12), epsilon=accuracies, shared=st.booleans())
def test_unfairness_grows_with_candidates_features_and_accuracy(k: int, d: int, epsilon: float, shared: bool) -> None:
    """Fairness loss and bad rounds never fall when k, d or 1/epsilon rises, and a diagonal metric needs no more."""
    for bound in (theory.fairness_loss, theory.fairness_rounds):
        here = bound(k, d, epsilon, 1.0, shared=shared)
        assert here <= bound(k + 1, d, epsilon, 1.0, shared=shared)
        assert here <= bound(k, d + 1, epsilon, 1.0, shared=shared)
        assert here <= bound(k, d, epsilon / 2, 1.0, shared=shared)
        assert bound(k, d, epsilon, 1.0, shared=shared, structure="diagonal") <= here


def test_sharing_saves_rounds_and_not_pairs() -> None:
    """One learner for all pairs spares the rounds their factor k (k-1)/2, not the pairs; alone nobody is unfair."""
    apart, together = (theory.fairness_rounds(6, 4, 0.05, 2.0, shared=shared) for shared in (False, True))
    assert apart == pytest.approx(15 * together)
    assert together == theory.distance_estimator_mistakes(10, 0.05**2, 2.0)  # squares, as accurate as epsilon squared
    assert theory.fairness_loss(6, 4, 0.05, 2.0, shared=True) == pytest.approx(theory.fairness_loss(6, 4, 0.05, 2.0))
    assert theory.fairness_rounds(1, 4, 0.05, 2.0) == theory.fairness_rounds(1, 4, 0.05, 2.0, shared=True) == 0


def best_fair(rewards: Floats, distances: Floats, capacity: float) -> Floats:
    """LP(a, c, B) by HiGHS through SciPy."""
    k = len(rewards)
    pairs = [(i, j) for i in range(k) for j in range(k) if i != j]
    rows = np.array([np.eye(k)[i] - np.eye(k)[j] for i, j in pairs] + [np.ones(k)])
    limits = np.array([distances[i, j] for i, j in pairs] + [capacity])
    return np.asarray(linprog(-rewards, A_ub=rows, b_ub=limits, bounds=(0, 1)).x)


def random_distances(rng: np.random.Generator, k: int) -> Floats:
    """A Mahalanobis metric on random points, or any symmetric numbers."""
    if rng.random() < 0.5:
        points = rng.uniform(0.1, 2) * rng.normal(size=(k, 2))
        return np.asarray(np.linalg.norm(points[:, None] - points[None], axis=2))
    c = rng.uniform(0, 1, size=(k, k))
    return np.minimum(c, c.T)


@settings(max_examples=60, deadline=None)
@given(seed=seeds, k=st.integers(2, 6), epsilon=st.floats(1e-3, 0.3))
def test_wrong_distances_cost_no_more_than_the_tight_bound(seed: int, k: int, epsilon: float) -> None:
    """Distances wrong by epsilon, all too small or at random: the reward lost stays below k (k-1)/2 epsilon."""
    rng = np.random.default_rng(seed)
    r, truth = rng.uniform(-1, 1, size=k), random_distances(rng, k)
    capacity = float(rng.choice([1, 2, k]))
    noise = rng.uniform(-epsilon, epsilon, size=(k, k))
    best = r @ best_fair(r, truth, capacity)
    for wrong in (truth - epsilon, truth + (noise + noise.T) / 2):
        loss = best - r @ best_fair(r, np.maximum(wrong, 0), capacity)
        assert loss <= theory.loss_of_wrong_distances(k, epsilon, tight=True) + 1e-8


def test_the_tight_bound_is_reached_by_two_candidates() -> None:
    """A pair with rewards 1 and -1 loses exactly epsilon; the paper's bound is eight times that."""
    r, c = np.array([1.0, -1.0]), np.full((2, 2), 0.5)
    loss = r @ best_fair(r, c, 1) - r @ best_fair(r, c - 0.1, 1)
    assert loss == pytest.approx(theory.loss_of_wrong_distances(2, 0.1, tight=True))
    assert theory.loss_of_wrong_distances(2, 0.1) == pytest.approx(8 * loss)


# --- Rewards --------------------------------------------------------------------------------------------------------


def greedy_spreads(d: int, T: int, lam: float, pulls: int) -> Floats:
    """|x|_{V^-1} of every pull when each round takes the unit vector known least, `pulls` times over."""
    V, spreads = lam * np.eye(d), []
    for _ in range(T):
        values, axes = np.linalg.eigh(V)
        spreads += [1 / math.sqrt(values[0])] * pulls
        V += pulls * np.outer(axes[:, 0], axes[:, 0])
    return np.array(spreads)


@pytest.mark.parametrize(("d", "T", "lam", "pulls"), [(1, 50, 1, 1), (5, 800, 1, 1), (3, 300, 0.1, 1), (4, 400, 1, 6),
                                                      (3, 200, 0.05, 20), (3, 200, 30, 20)])  # fmt: skip
def test_the_sum_of_widths_is_bounded(d: int, T: int, lam: float, pulls: int) -> None:
    """An adversary who always shows the direction known least does not push the sum of widths over the bound."""
    spreads = greedy_spreads(d, T, lam, pulls)
    radii = [theory.confidence_radius(d, pulls * t, lam=lam, delta=0.05) for t in range(1, T + 1) for _ in range(pulls)]
    total = float(np.minimum(np.array(radii) * spreads, 1).sum())
    assert total <= theory.sum_of_widths(d, T, lam=lam, delta=0.05, pulls=pulls)
    uncapped = radii[-1] * float(np.minimum(spreads, 1).sum())
    assert uncapped <= theory.sum_of_widths(d, T, lam=lam, delta=0.05, pulls=pulls)


def test_the_printed_lemma_on_the_sum_of_norms_is_false() -> None:
    """One pull a round: the sum of |x| passes sqrt(2 d log(1 + T/(d lam))); the sum of squares keeps its square."""
    spreads = greedy_spreads(3, 300, 1.0, 1)
    printed = math.sqrt(2 * 3 * math.log(1 + 300 / 3))
    assert spreads.sum() > 5 * printed
    assert (spreads**2).sum() <= printed**2


@given(d=st.integers(1, 20), T=st.integers(1, 10**6), lam=st.floats(0.01, 10), delta=st.floats(0.001, 0.5))
def test_one_pull_a_round_is_the_papers_lemma(d: int, T: int, lam: float, delta: float) -> None:
    """For single pulls the sum of widths is the paper's formula to the letter."""
    paper = math.sqrt(2 * d * math.log(1 + T / (d * lam))) * (
        math.sqrt(2 * d * T * math.log((1 + T / lam) / delta)) + math.sqrt(T * lam)
    )
    assert theory.sum_of_widths(d, T, lam=lam, delta=delta) == pytest.approx(paper)
    assert theory.sum_of_widths(d, T, lam=lam, delta=delta, pulls=3) > paper


def test_drawn_widths_stay_close_to_expected_ones() -> None:
    """Out of 4000 sequences of coin flips with widths 0 and 1 at most a share delta exceeds the martingale term."""
    rng, T, delta = np.random.default_rng(0), 400, 0.05
    excess = T / 2 - rng.binomial(T, 0.5, size=4000)
    assert np.mean(excess >= theory.martingale_term(T, delta)) <= delta
    assert math.exp(-(theory.martingale_term(T, delta) ** 2) / (2 * T)) == pytest.approx(delta)
    assert theory.martingale_term(T, delta, pulls=7) == pytest.approx(7 * theory.martingale_term(T, delta))


# --- Regret ---------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(seed=seeds, k=st.integers(2, 5))
def test_a_bad_round_costs_one_and_twice_the_widths(seed: int, k: int) -> None:
    """With optimistic rewards and arbitrary distances a round's regret is at most capacity + 2 w.p."""
    rng = np.random.default_rng(seed)
    r, w = rng.uniform(-1, 1, size=k), rng.uniform(0, 1, size=k) ** 3
    optimistic = np.minimum(r + 2 * w * rng.uniform(0, 1, size=k), 1)
    capacity = float(rng.choice([1, k]))
    best = best_fair(r, random_distances(rng, k), capacity)
    played = best_fair(optimistic, random_distances(rng, k), capacity)
    assert r @ best - r @ played <= capacity + 2 * w @ played + 1e-8


def test_one_round_can_cost_two() -> None:
    """The worst candidate played where the best was fair: a regret of 2, which the widths then have to admit."""
    r, optimistic, far = np.array([1.0, -1.0]), np.array([1.0 - 1e-6, 1.0]), np.ones((2, 2))
    assert r @ best_fair(r, far, 1) - r @ best_fair(optimistic, far, 1) == pytest.approx(2)


@given(k=st.integers(2, 10), d=st.integers(1, 8), T=st.integers(1, 10**5), epsilon=accuracies)
def test_regret_grows_with_everything(k: int, d: int, T: int, epsilon: float) -> None:
    """More rounds, features or candidates never lower a regret bound, and every bound is the sum of its terms."""
    for regret, extra in ((theory.regret_known_reward, {}), (theory.regret_full, {"delta": 0.05}),
                          (theory.regret_many, {"delta": 0.05})):  # fmt: skip
        bound: Any = regret
        here = bound(k, d, T, epsilon, 1.0, **extra)
        assert here <= bound(k, d, T + 1, epsilon, 1.0, **extra)
        assert here <= bound(k, d + 1, T, epsilon, 1.0, **extra)
        assert here <= bound(k + 1, d, T, epsilon, 1.0, **extra)
        assert bound(k, d, T, epsilon, 1.0, tight=True, shared=True, **extra) <= here
    terms = theory.regret_terms(k, d, T, epsilon, 1.0, delta=0.05)
    assert theory.regret_full(k, d, T, epsilon, 1.0, delta=0.05) == pytest.approx(terms.total)
    assert terms.bad_rounds + terms.inaccuracy == pytest.approx(theory.regret_known_reward(k, d, T, epsilon, 1.0))


def test_known_rewards_cost_a_logarithm_of_time() -> None:
    """At the best epsilon every doubling of T adds the same amount, and inaccurate distances cost 1 in all."""
    regret = [
        theory.regret_known_reward(5, 3, T, theory.best_epsilon(5, T), 1.0) for T in (10**3, 2 * 10**3, 4 * 10**3)
    ]
    assert regret[2] - regret[1] == pytest.approx(regret[1] - regret[0], rel=1e-6)
    assert regret[1] > regret[0]
    assert 3000 * theory.loss_of_wrong_distances(5, theory.best_epsilon(5, 3000)) == pytest.approx(1)


def test_unknown_rewards_cost_a_root_of_time() -> None:
    """Four times the rounds double the reward's part of the bound, up to a logarithm."""
    few, many = (theory.regret_terms(5, 5, T, 0.01, 1.0, delta=0.05) for T in (10**5, 4 * 10**5))
    assert many.luck == pytest.approx(2 * few.luck)
    assert 2 < many.widths / few.widths < 2.4


def test_choosing_many_scales_the_terms() -> None:
    """Everybody may be chosen: bad rounds and luck times k, widths by no more than the printed k sqrt(k)."""
    one = theory.regret_terms(6, 4, 10**4, 0.01, 1.0, delta=0.05)
    everybody = theory.regret_terms(6, 4, 10**4, 0.01, 1.0, delta=0.05, pulls=6)
    assert everybody.bad_rounds == pytest.approx(6 * one.bad_rounds)
    assert everybody.luck == pytest.approx(6 * one.luck)
    assert everybody.inaccuracy == one.inaccuracy
    assert one.widths < everybody.widths < 6**1.5 * one.widths
    assert everybody.total == pytest.approx(theory.regret_many(6, 4, 10**4, 0.01, 1.0, delta=0.05))


# --- Refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: theory.n_unknowns(0), "d must be a whole number >= 1, got 0"),
        (lambda: theory.n_unknowns(2.5), r"d must be a whole number >= 1, got 2\.5"),  # type: ignore[arg-type]
        (lambda: theory.n_unknowns(True), "d must be a whole number >= 1, got True"),
        (lambda: theory.n_unknowns(2, "banded"), "structure"),  # type: ignore[arg-type]
        (lambda: theory.distance_estimator_mistakes(3, 0.0, 1.0), r"epsilon must be a number > 0, got 0\.0"),
        (
            lambda: theory.distance_estimator_mistakes(3, 0.1, 1.0, centre_error=0.4),
            r"centre_error must be a number >= 0 and < 0\.367",
        ),
        (lambda: theory.ellipsoid_mistakes(3, 0.1, math.inf), "bound_alpha must be a number > 0, got inf"),
        (lambda: theory.ellipsoid_mistakes(3, math.nan, 1.0), "epsilon must be a number > 0, got nan"),
        (lambda: theory.fairness_loss(3, 3, 0.1, 1.0, learner="oracle"), "learner"),  # type: ignore[arg-type]
        (lambda: theory.fairness_rounds(3, 3, 0.1, -1.0), r"bound_alpha must be a number > 0, got -1\.0"),
        (lambda: theory.sum_of_widths(3, 10, lam=0.0, delta=0.1), r"lam must be a number > 0, got 0\.0"),
        (lambda: theory.regret_full(3, 3, 10, 0.1, 1.0, delta=1.0), r"delta must be a number > 0 and < 1, got 1\.0"),
        (lambda: theory.best_epsilon(3, 0), "T must be a whole number >= 1, got 0"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(call: Any, word: str) -> None:
    """Inputs out of range raise InvalidInput, quoting name, value and limit."""
    with pytest.raises(InvalidInput, match=word):
        call()
