"""What was decided, what came of it, and the price of fairness."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.content import NONE, Block, ReportSection, decimal, interval, percent, section, table, whole

if TYPE_CHECKING:
    from evenhand.report.audit import AuditReport
    from evenhand.report.figures import ModeFigures

SHARES = (
    "This desk gives shares and draws nobody. Read chance as share, and chosen as those who got one; an outcome is "
    "that of the share."
)


def decided_section(report: AuditReport) -> ReportSection:
    """Decisions, outcomes and price, live and in shadow mode side by side."""
    modes = [report.figures.live, report.figures.shadow]
    if not report.figures.decisions:
        return section("decisions", "Decisions and the price of fairness", ["No decision was made in the period."])
    decided = [
        ["decisions", *(whole(one.decisions) for one in modes)],
        ["candidates", *(whole(one.candidates) for one in modes)],
        ["candidates chosen", *(whole(one.chosen) for one in modes)],
        ["decisions in which nobody was chosen", *(whole(one.nobody) for one in modes)],
        ["decisions whose action is not known yet", *(whole(one.untold) for one in modes)],
        ["decisions overridden", *(whole(one.overridden) for one in modes)],
        ["people left out, since they did not fit the features", *(whole(one.left_out) for one in modes)],
        ["values counted as another", *(whole(one.counted_as) for one in modes)],
        ["decisions with a candidate erased since", *(whole(one.erased) for one in modes)],
        ["outcomes known", *(whole(one.outcomes) for one in modes)],
        ["mean outcome", *(interval(one.reward) for one in modes)],
    ]
    price = [
        ["decisions with a price", *(whole(one.priced) for one in modes)],
        ["decisions in which fairness cost something", *(whole(one.costly) for one in modes)],
        ["price by optimistic rewards, mean", *(interval(one.price_optimistic) for one in modes)],
        ["share of the best optimistic reward", *(_share(one) for one in modes)],
        ["price by estimated rewards, mean", *(interval(one.price_expected) for one in modes)],
    ]
    limits = [
        ["pairs kept at their limit", *(whole(one.tight_pairs) for one in modes)],
        ["pairs made equal for want of a proof in time", *(whole(one.unproved_pairs) for one in modes)],
        ["largest excess over a limit, by rounding", *(_residual(one.worst_residual) for one in modes)],
    ]
    head = ["", "live", "shadow mode"]
    blocks: list[Block | None] = [
        "In shadow mode the desk only says what it would decide: those chosen, and their outcomes, are those of the "
        "system in force. Intervals are 95% confidence intervals, in brackets.",
        SHARES if report.figures.settings.get("mode") == "shares" else None,
        table("Decisions and outcomes", head, decided),
        table("Price of fairness, in reward per decision", head, price),
        "The price is the value of the best probabilities without fairness, less the value of those played. Both are "
        "computed from the rewards as they were estimated when it was decided; nobody knows the true ones. By "
        "optimistic rewards, which the probabilities maximise, it is never below zero.",
        table("Limits on probabilities", head, limits),
    ]
    return section("decisions", "Decisions and the price of fairness", blocks)


def _share(one: ModeFigures) -> str:
    if not one.best_optimistic or one.price_optimistic.value is None or one.best_optimistic <= 0:
        return NONE
    return percent(one.price_optimistic.value / one.best_optimistic)


def _residual(value: float | None) -> str:
    return decimal(value, 3) if value in (None, 0.0) else f"{value:.1e}"
