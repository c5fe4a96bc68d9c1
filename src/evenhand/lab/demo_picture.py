"""The demonstration's picture: violations and regret over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from evenhand.lab.account import Account

COLOURS = ("#0072B2", "#D55E00", "#CC79A7", "#009E73", "#666666")
"""Okabe and Ito's, told apart by colour-blind readers too; the dashes help in print."""

DASHES = ("-", "--", "-.", ":", (0, (1, 1)))


def draw_picture(accounts: dict[str, Account], path: Path) -> None:
    """Two panels, unfair pairs so far and regret so far, one line for each way to run the desk, as a PNG."""
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.8), layout="constrained")
    violations, regret = figure.subplots(1, 2)
    for (name, account), colour, dash in zip(accounts.items(), COLOURS, DASHES, strict=False):
        days = np.arange(1, account.rounds + 1)
        style: dict[str, Any] = {"color": colour, "linestyle": dash, "label": name, "linewidth": 2.2}
        violations.plot(days, np.cumsum(account.unfair_pairs), **style)
        regret.plot(days, np.cumsum(account.regret), **style)
    violations.set(title="Unfair pairs so far", xlabel="day", ylabel="pairs (logarithmic above 1)")
    violations.set_yscale("symlog", linthresh=1)
    violations.set_ylim(bottom=0)
    regret.set(title="Reward lost so far against the best fair odds", xlabel="day", ylabel="regret (units of reward)")
    regret.axhline(0, color="black", linewidth=0.6)
    figure.legend(*regret.get_legend_handles_labels(), loc="outside lower center", ncols=len(accounts), frameon=False)
    for axes in (violations, regret):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    figure.savefig(path, dpi=130)
