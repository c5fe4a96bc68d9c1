"""The report of an evaluation: one self-contained HTML page."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._internal.atomic_write import atomic_write
from evenhand._internal.html_page import embedded, html_page
from evenhand.errors import MissingExtra
from evenhand.history.pair_counts import PairCount, UnfairPastPair
from evenhand.history.past_log import PastLog
from evenhand.history.policy_result import OffPolicyEstimate, PolicyResult

if TYPE_CHECKING:
    from evenhand.history.evaluation import Evaluation

MOST_ROWS = 2_000
"""Refused rows, and values counted as others, that the page lists."""

DIFFERENCES = 4
"""Features in which two people differ most, listed for each pair."""

FROZEN = (
    "Each policy is evaluated frozen: it had learned before these rounds, and learned nothing from them. So its "
    "probabilities do not depend on the decisions and outcomes that the estimates take as random. What a policy would "
    "have learned from its own choices is not in these numbers; the log cannot show it."
)
ADDITIVE = (
    "A round's reward is the sum of the outcomes of those chosen, and nobody's outcome depends on who else is chosen. "
    "Then the chance that each candidate had is all that estimates need, for any capacity."
)


def write_evaluation(evaluation: Evaluation, path: str | os.PathLike[str], title: str) -> None:
    """Write the page; a new file can be read by its owner only, since it is about people."""
    text = html_page(title, _sections(evaluation))
    with atomic_write(path, private=True) as file:
        file.write(text.encode())


def _sections(evaluation: Evaluation) -> Iterator[str]:
    from evenhand.history.figures import fairness_figure, overlap_figure, values_figure

    if find_spec("matplotlib") is None:
        raise MissingExtra("the report needs matplotlib: pip install 'evenhand[history]'")
    log = evaluation.log
    sizes = f"{log.sizes.min()} to {log.sizes.max()}" if np.ptp(log.sizes) else str(log.sizes[0])
    places = f"{log.capacities.min()} to {log.capacities.max()}" if np.ptp(log.capacities) else str(log.capacities[0])
    yield (
        f"<p>{len(log)} rounds of {sizes} candidates, {log.n_candidates} in all, of whom {int(log.chosen.sum())} were "
        f"chosen. Policies may choose {places} in a round.{_left_out(evaluation)}</p>"
    )
    yield "<h2>What policies would have earned</h2>"
    yield _picture("Estimates of each policy", values_figure(evaluation))
    yield _estimates(evaluation)
    yield _support(evaluation)
    yield _paragraphs(_said(evaluation.results))
    yield "<h2>What cannot be estimated</h2>"
    yield _paragraphs([*evaluation.statements, FROZEN, ADDITIVE])
    yield _picture("Chances of past decisions", overlap_figure(evaluation))
    if evaluation.past_pairs:
        yield f"<h2>Pairs treated further apart than the metric allows</h2>{_counts(evaluation)}"
        yield _picture("Reward and fairness", fairness_figure(evaluation))
        for name, count in evaluation.past_pairs.items():
            yield _worst(log, name, count)
    yield from _rows_of_table(log)
    yield "<h2>How it was computed</h2>"
    yield _paragraphs(_methods(evaluation))


def _left_out(evaluation: Evaluation) -> str:
    if not evaluation.left_out:
        return ""
    return f" {evaluation.left_out} rounds are left out: an outcome of somebody chosen in them is not known yet."


def _picture(name: str, figure: Any) -> str:
    return f'<p><img alt="{html.escape(name)}" src="data:image/png;base64,{embedded(figure)}"></p>'


def _paragraphs(texts: Iterable[str]) -> str:
    return "\n".join(f"<p>{html.escape(text)}</p>" for text in texts)


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "numbers") -> str:
    """A table of cells, escaped; kind: "numbers" or "texts".

    >>> html_table(["a"], [["<b>"]])
    '<table class="numbers"><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    top = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "\n".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def _estimates(evaluation: Evaluation) -> str:
    """What each policy earns per round, by each estimator; in two tables, since intervals are wide."""
    first = [["as decided (observed)", str(evaluation.decided), "", ""]]
    second = [["as decided (observed)", "", "", _ends(evaluation.decided)]]
    for result in evaluation.results:
        found = result.estimates
        if found:
            first.append([result.name, str(found["dr"]), str(result.gain), str(found["snips"])])
            second.append([result.name, str(found["ips"]), str(found["dm"]), _ends(found["dr"])])
        else:
            first.append([result.name, "not estimated", "", ""])
    head = ["reward per round", "doubly robust", "more than as decided", "SNIPS"]
    return html_table(head, first) + html_table(["reward per round", "IPS", "direct method", "Bernstein (DR)"], second)


def _support(evaluation: Evaluation) -> str:
    """How much the log says of each policy, and how it treats pairs."""
    from evenhand.history.evaluation import BY_CHANCES, CHANCES

    head = ["", "chosen per round", "effective outcomes", "largest weight", "without a chance"]
    past = evaluation.past_pairs.get(CHANCES)
    rows = [["as decided (observed)", f"{evaluation.log.places.mean():.3g}", "", "", ""]]
    if past is not None:
        head, rows = [*head, "unfair pairs"], [[*rows[0], f"{past.share:.1%}{BY_CHANCES}"]]
    for result in evaluation.results:
        about = [f"{result.choices:.3g}", f"{result.effective:.0f}", f"{result.largest_weight:.3g}"]
        unfair = [f"{result.pairs.share:.1%}"] if result.pairs is not None else []
        rows.append([result.name, *about, f"{result.unsupported:.1%}", *unfair])
    return html_table(head, rows)


def _ends(estimate: OffPolicyEstimate) -> str:
    return "" if estimate.bernstein is None else "{:.4g} to {:.4g}".format(*estimate.bernstein)


def _said(results: Iterable[PolicyResult]) -> Iterator[str]:
    for result in results:
        for text in result.said:
            yield f"{result.name}: {text}."


def _counts(evaluation: Evaluation) -> str:
    counts = {**evaluation.past_pairs, **{r.name: r.pairs for r in evaluation.results if r.pairs is not None}}
    head = ["", "pairs of the same round", "further apart than allowed", "share", "surely", "total excess"]
    rows = [
        [name, str(c.pairs), str(c.unfair), f"{c.share:.2%}", str(c.surely), f"{c.excess:.4g}"]
        for name, c in counts.items()
    ]
    sampled = next(iter(counts.values())).rounds < len(evaluation.log)
    part = f" {next(iter(counts.values())).rounds} of {len(evaluation.log)} rounds were looked at." if sampled else ""
    text = (
        f"By {evaluation.metric}, with a tolerance of {evaluation.tolerance:g}. Surely: even at the upper end of the "
        f"distance. As decided counts yes as 1 and no as 0; the chances of the past are those below.{part}"
    )
    return _paragraphs([text]) + html_table(head, rows)


def _worst(log: PastLog, name: str, count: PairCount) -> str:
    title = f"<h3>The worst pairs, {html.escape(name)}</h3>"
    if not count.worst:
        return f"{title}<p>None.</p>"
    head = ["round", "treated better", "treated worse", "chances", "gap", "distance", "they differ most in"]
    at = {one: row for row, one in enumerate(log.ids)}
    return title + html_table(head, [_pair(log, at, pair) for pair in count.worst], "texts")


def _pair(log: PastLog, at: dict[str, int], pair: UnfairPastPair) -> list[str]:
    chances, gap = f"{pair.higher:.2f}, {pair.lower:.2f}", f"{pair.higher - pair.lower:.2f}"
    differ = _differences(log, at[pair.first], at[pair.second])
    return [pair.round, pair.first, pair.second, chances, gap, f"{pair.distance:.2f}", differ]


def _differences(log: PastLog, first: int, second: int) -> str:
    """The features in which two candidates differ most, with their values."""
    if log.schema is None:
        return ""
    apart = log.contexts[first] - log.contexts[second]
    sizes = {name: float(np.linalg.norm(apart[block])) for name, block in log.schema.blocks.items()}
    names = sorted((name for name, size in sizes.items() if size > 1e-9), key=lambda name: -sizes[name])[:DIFFERENCES]
    one, other = log.schema.decode(log.contexts[[first, second]])
    return ", ".join(f"{name} {_value(one[name])} / {_value(other[name])}" for name in names) or "nothing"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _rows_of_table(log: PastLog) -> Iterator[str]:
    if log.notes:
        yield f"<h2>Columns to look at</h2>{_listed(log.notes)}"
    if log.refused:
        yield f"<h2>Rows that were refused: {len(log.refused)}</h2>"
        yield _listed([str(row) for row in log.refused])
    if log.counted_as:
        count = len(log.counted_as)
        yield f"<details><summary>{count} values count as others</summary>{_listed(log.counted_as)}</details>"


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - MOST_ROWS
    items = "\n".join(f"<li>{html.escape(text)}</li>" for text in texts[:MOST_ROWS])
    return f"<ul>{items}</ul>" + (f"<p>and {more} more</p>" if more > 0 else "")


def _methods(evaluation: Evaluation) -> list[str]:
    share = f"{evaluation.confidence:.0%}"
    return [
        f"Chances of past decisions: {evaluation.propensities.model}.",
        f"Expected outcomes: {evaluation.expected.model}.",
        f"Intervals are {share} studentized bootstrap intervals over rounds, and empirical Bernstein intervals, which "
        "are wide, but need no large number of rounds. The latter need recorded chances, and outcomes within the range "
        "that was passed, or else seen. Where chances are estimated, the error of a wrong model is in no interval. The "
        "direct method has none: it would not cover the error of its model.",
    ]
