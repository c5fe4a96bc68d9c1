"""What a report says, counted again from the raw export of a ledger, with JSON and plain arithmetic alone."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from scipy import stats

Json = dict[str, Any]


def opened(line: str) -> Json:
    """An exported event with its contents back in their places, without evenhand's own reader."""
    event: Json = json.loads(line)
    body, contents = event["body"], event.get("contents") or []
    sealed = body.pop("sealed", None)
    if sealed is None:
        return event
    parts = [None if one is None else json.loads(one["text"]) for one in contents]
    for column in sealed["columns"]:
        body[column] = [None if part is None else part["each"].get(column) for part in parts[: len(body["candidates"])]]
    for part in parts:
        for name, entries in (part or {}).get("lists", {}).items():
            body[name] = [*body.get(name, ()), *entries]
        for name, value in (part or {}).get("fields", {}).items():
            body[name] = {**body[name], **value} if isinstance(value, dict) and body.get(name) else value
    pairs = zip(parts, sealed["contents"], strict=True)
    body["erased"] = {name for part, one in pairs if part is None for name in one.get("of", ())}
    return event


def mean_interval(groups: dict[Any, list[float]], low: float = -1e300, high: float = 1e300) -> Json:
    """A mean with the 95% interval of a ratio estimator over clusters, by its textbook formula."""
    groups = {key: values for key, values in groups.items() if values}
    n, m = sum(map(len, groups.values())), len(groups)
    if n == 0:
        return {"value": None, "lower": None, "upper": None}
    mean = sum(map(sum, groups.values())) / n
    if m < 2:
        return {"value": mean, "lower": None, "upper": None}
    squares = sum((sum(values) - mean * len(values)) ** 2 for values in groups.values())
    half = float(stats.t.ppf(0.975, m - 1)) * (m / (m - 1) * squares) ** 0.5 / n
    return {"value": mean, "lower": max(low, mean - half), "upper": min(high, mean + half)}


class Recount:
    """The figures of the events from `first` to `last`; both are seqs."""

    def __init__(self, lines: Sequence[str], first: int, last: int) -> None:
        self.whole = [opened(line) for line in lines]
        self.known = [event for event in self.whole if event["seq"] <= last]
        self.within = [event for event in self.known if event["seq"] >= first]
        self.first = first
        self.made = {e["id"]: e["body"] for e in self.known if e["kind"] == "decision"}
        self.own = {e["id"]: e["body"] for e in self.within if e["kind"] == "decision"}
        undone = {e["body"]["review"]: "withdrawn" for e in self.known if e["kind"] == "withdrawal"}
        superseded = [e["body"]["supersedes"] for e in self.known if e["kind"] == "review"]
        self.undone = undone | {review: "superseded" for review in superseded if review}

    def about(self, decision: str, kind: str) -> list[Json]:
        """The bodies of events of a kind about a decision, in order."""
        return [e["body"] for e in self.known if e["kind"] == kind and e["body"].get("decision") == decision]

    def kinds(self) -> Json:
        """Events of the period by kind."""
        return dict(sorted(Counter(e["kind"] for e in self.within).items()))

    def chosen(self, name: str) -> list[str] | None:
        """Who was really chosen; None if that is not known."""
        body = self.made[name]
        if body.get("shadow"):
            told = [body["action"]] if "action" in body else self.about(name, "action")
            return list(told[0]["chosen"]) if told else None
        overrides = self.about(name, "override")
        return list(overrides[-1]["chosen"] if overrides else body["chosen"])

    def rewards(self, name: str) -> dict[str, float]:
        """Outcomes of a decision."""
        return {who: r for body in self.about(name, "outcome") for who, r in body["rewards"].items()}

    def mode(self, *, shadow: bool) -> Json:
        """The figures of the decisions in one mode."""
        own = {name: body for name, body in self.own.items() if bool(body.get("shadow")) == shadow}
        chosen = {name: self.chosen(name) for name in own}
        gone = {name for name, body in own.items() if set(body.get("erased", ())) & set(body["candidates"])}
        prices = {name: _price(body) for name, body in own.items() if name not in gone}
        residuals = [body["worst_residual"] for body in own.values()]
        rewards = {name: list(self.rewards(name).values()) for name in own}
        return {
            "decisions": len(own),
            "candidates": sum(len(body["candidates"]) for body in own.values()),
            "chosen": sum(len(names or ()) for names in chosen.values()),
            "nobody": sum(names == [] for names in chosen.values()),
            "untold": sum(names is None for names in chosen.values()),
            **{
                field: sum(len(body.get(field, ())) for body in own.values())
                for field in ("left_out", "counted_as", "tight_pairs")
            },
            "unproved_pairs": sum(body.get("unproved_pairs", 0) for body in own.values()),
            "worst_residual": max(residuals, default=None),
            "erased": len(gone),
            "overridden": sum(bool(self.about(name, "override")) for name in own),
            "outcomes": sum(map(len, rewards.values())),
            "reward": mean_interval(rewards),
            "priced": len(prices),
            "costly": sum(price[0] >= 0.0005 for price in prices.values()),
            "price_optimistic": mean_interval({name: [price[0]] for name, price in prices.items()}),
            "price_expected": mean_interval({name: [price[1]] for name, price in prices.items()}),
            "best_optimistic": statistics.fmean(price[2] for price in prices.values()) if prices else None,
        }

    def under(self) -> list[Json]:
        """Decisions by settings, version and mode."""
        counts = Counter((b["settings"], b["code"], bool(b.get("shadow"))) for b in self.own.values())
        names = ("settings", "code", "shadow", "decisions")
        return [dict(zip(names, (*key, number), strict=True)) for key, number in sorted(counts.items())]

    def changes(self) -> list[Json]:
        """Changes of settings and switches."""
        found = []
        for event in self.within:
            if event["kind"] in ("opened", "settings", "switch"):
                changes = event["body"].get("changes", {})
                changes = {"mode": event["body"]["to"]} if event["kind"] == "switch" else changes
                about = {name: event[name] for name in ("seq", "time", "actor", "kind")}
                found.append({**about, "changes": changes, "reason": event["body"].get("reason")})
        return found

    def settings(self) -> Json:
        """Those in force at the end, without the seed."""
        newest = [e["body"]["settings"] for e in self.known if e["kind"] in ("opened", "settings", "switch")][-1]
        return {name: value for name, value in newest.items() if name != "seed"}

    def overrides(self) -> list[Json]:
        """All overrides of the period."""
        found = []
        for event in self.within:
            if event["kind"] == "override":
                decision = self.made[event["body"]["decision"]]
                about = {name: event[name] for name in ("seq", "time", "actor")}
                about |= {"number": decision["number"], "drawn": decision["chosen"]}
                found.append({**about, "chosen": event["body"]["chosen"], "reason": event["body"]["reason"]})
        return found

    # Reviews.

    def reviews(self, *, within: bool = True) -> list[Json]:
        """Events of reviews."""
        return [event for event in (self.within if within else self.known) if event["kind"] == "review"]

    def became(self, event: Json) -> str:
        """What became of a review."""
        is_repeat = bool((event["body"]["circumstances"] or {}).get("repeat"))
        return self.undone.get(event["id"], "repeat" if is_repeat else "stands")

    def flags(self) -> Json:
        """Flags and what became of them."""
        given = [e for e in self.reviews() if e["body"]["unfair"] or e["body"]["any_unfair"]]
        standing = [e for e in self.reviews(within=False) if self.became(e) == "stands"]
        standing = [
            e for e in standing if e["body"].get("subject", "desk") == "desk" and e["body"]["decision"] in self.own
        ]
        bad = {e["body"]["decision"] for e in standing if e["body"]["unfair"] or e["body"]["any_unfair"]}
        numbers = sorted(body["number"] for body in self.own.values())
        flagged = sorted(self.own[name]["number"] for name in bad)
        answers = [e["body"]["unfair"] for e in self.within if e["kind"] == "answer" and e["id"] not in self.undone]
        left = [body["flags_left"] for body in self.own.values() if "flags_left" in body]
        return {
            "reviews": len(self.reviews()),
            "reviewed": len({e["body"]["decision"] for e in standing}),
            "flagged": len(flagged),
            "flags": [self._flag(event) for event in given],
            "answers": len(answers),
            "answers_unfair": answers.count(True),
            "by_decision": [[n, sum(f <= n for f in flagged)] for n in numbers],
            "first_left": left[0] if left else None,
            "last_left": left[-1] if left else None,
        }

    def _flag(self, event: Json) -> Json:
        body = event["body"]
        return {
            "review": event["id"],
            "seq": event["seq"],
            "time": event["time"],
            "reviewer": body["reviewer"],
            "decision": body["decision"],
            "number": self.made[body["decision"]]["number"],
            "subject": body.get("subject", "desk"),
            "pairs": body["unfair"],
            "became": self.became(event),
        }

    def judgements(self) -> dict[tuple[str, str, frozenset[str]], dict[str, str]]:
        """What each reviewer's standing reviews of the period say of each pair, repeats left out."""
        found: dict[tuple[str, str, frozenset[str]], dict[str, str]] = {}
        for complete in (True, False):  # what a review names comes before what a complete one implies
            for event in self.reviews():
                body, subject = event["body"], event["body"].get("subject", "desk")
                if self.became(event) != "stands" or body["reviewer"] is None:
                    continue
                said = {frozenset(pair): "unfair" for pair in body["unfair"]}
                said |= {frozenset(pair): "acceptable" for pair in body["fair"]}
                if complete and body["kind"] == "complete":
                    every = combinations(self.made[body["decision"]]["candidates"], 2)
                    said = {frozenset(pair): "acceptable" for pair in every}
                elif complete:
                    said = {}
                for pair, answer in said.items():
                    found.setdefault((body["decision"], subject, pair), {})[body["reviewer"]] = answer
        return found

    def agreement(self) -> Json:
        """Pairs judged by both reviewers, how often they said the same, and both kappas; there are two reviewers."""
        shared = [said for said in self.judgements().values() if len(said) >= 2]
        n, same = len(shared), sum(len(set(said.values())) == 1 for said in shared)
        unfair = {name: sum(said[name] == "unfair" for said in shared) / n for name in ("Kim", "Lee")}
        kim, lee = unfair.values()
        both = (kim + lee) / 2
        kappas = [
            (same / n - chance) / (1 - chance)
            for chance in (both**2 + (1 - both) ** 2, kim * lee + (1 - kim) * (1 - lee))
        ]
        between = {"reviewers": ["Kim", "Lee"], "pairs": n, "same": same, "share": same / n, "kappa": kappas[1]}
        return {"pairs": n, "judgements": 2 * n, "share": same / n, "kappa": kappas[0], "between": [between]}

    def repeats(self) -> Json:
        """How often a repeated pair was answered as before, with Wilson's interval by its formula."""
        given = {e["id"]: e["body"]["circumstances"] or {} for e in self.known if e["kind"] == "review"}
        again = [given[e["id"]] for e in self.reviews() if given[e["id"]].get("repeat")]
        same = sum(given[one["repeat_of"]]["answer"] == one["answer"] for one in again)
        n, z = len(again), float(stats.norm.ppf(0.975))
        share = same / n
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
        return {"repeats": n, "same": same, "share": share, "low": middle - half, "high": middle + half}

    def reviewer(self, name: str) -> Json:
        """One reviewer's counts."""
        reviews = [e for e in self.reviews() if e["body"]["reviewer"] == name and e["id"] not in self.undone]
        answers = [e for e in self.within if e["kind"] == "answer" and e["body"]["reviewer"] == name]
        bodies = [event["body"] for event in reviews]
        one_bit = [body["any_unfair"] for body in bodies if body["kind"] == "one_bit"]
        fine = [body for body in bodies if body["kind"] == "complete" and not body["unfair"]]
        said = [event["body"]["unfair"] for event in answers]
        seconds = [body["circumstances"]["seconds"] for body in bodies if "seconds" in (body["circumstances"] or {})]
        return {
            "name": name,
            "reviews": len(reviews) + len(answers),
            "unfair": sum(len(b["unfair"]) for b in bodies) + one_bit.count(True) + said.count(True),
            "acceptable": sum(len(b["fair"]) for b in bodies) + len(fine) + one_bit.count(False) + said.count(False),
            "passed": said.count(None),
            "withdrawn": sum(e["body"]["reviewer"] == name and e["id"] in self.undone for e in self.reviews()),
            "median_seconds": statistics.median(seconds) if seconds else None,
        }

    # Groups.

    def group(self, label: Callable[[Json, int], str], name: str, *, shadow: bool) -> Json:
        """A group by a label of each candidate: counts, chance, share chosen and reward, by decision."""
        chance: dict[str, list[float]] = {}
        picked: dict[str, list[float]] = {}
        reward: dict[str, list[float]] = {}
        for decision, body in self.own.items():
            if bool(body.get("shadow")) != shadow:
                continue
            for place, who in enumerate(body["candidates"]):
                if label(body, place) == name:
                    chance.setdefault(decision, []).append(body["probabilities"][place])
                    picked.setdefault(decision, []).append(float(who in (self.chosen(decision) or ())))
                    got = self.rewards(decision).get(who)
                    reward.setdefault(decision, []).extend([] if got is None else [got])
        return {
            "name": name,
            "candidates": sum(map(len, chance.values())),
            "chosen": int(sum(map(sum, picked.values()))),
            "outcomes": sum(map(len, reward.values())),
            "chance": mean_interval(chance, 0.0, 1.0),
            "rate": _share(picked),
            "reward": mean_interval(reward),
        }

    def groups(self, label: Callable[[Json, int], str], *, shadow: bool) -> list[Json]:
        """All groups of a label, with impact ratios."""
        bodies = [body for body in self.own.values() if bool(body.get("shadow")) == shadow]
        names = sorted({label(body, place) for body in bodies for place in range(len(body["candidates"]))})
        names.sort(key=lambda name: ({"not known": 1, "erased": 2}.get(name, 0), name))
        found = [self.group(label, name, shadow=shadow) for name in names]
        known = [one["rate"]["value"] for one in found if one["name"] not in ("not known", "erased")]
        highest = max(known, default=0.0)
        for one in found:
            is_named = one["name"] not in ("not known", "erased") and highest > 0
            one["impact_ratio"] = one["rate"]["value"] / highest if is_named else None
        return found


def _share(picked: dict[str, list[float]]) -> Json:
    """A share with its interval; Wilson's of as many as decisions, by its formula, if nobody or all were picked."""
    found, n, z = mean_interval(picked, 0.0, 1.0), len(picked), float(stats.norm.ppf(0.975))
    if found["value"] not in (0.0, 1.0):
        return found
    middle, half = (found["value"] + z * z / (2 * n)) / (1 + z * z / n), z * z / (2 * n) / (1 + z * z / n)
    return {"value": found["value"], "lower": middle - half, "upper": middle + half}


def by_carried(column: str) -> Callable[[Json, int], str]:
    """The label of a candidate by a carried column."""

    def label(body: Json, place: int) -> str:
        if body["candidates"][place] in body.get("erased", ()):
            return "erased"
        return str((body["carried"][place] or {}).get(column) or "not known")

    return label


def by_yes_no(feature: str) -> Callable[[Json, int], str]:
    """The label of a candidate by a yes-or-no feature."""

    def label(body: Json, place: int) -> str:
        if body["candidates"][place] in body.get("erased", ()):
            return "erased"
        return "yes" if body["features"][place][feature] else "no"

    return label


def _price(body: Json) -> tuple[float, float, float]:
    """What fairness cost: by optimistic rewards, by the estimates; and the best optimistic reward without it."""
    optimistic, estimated, played = body["optimistic_rewards"], body["estimated_rewards"], body["probabilities"]
    ranked = sorted(range(len(optimistic)), key=lambda i: -optimistic[i])
    best = [i for i in ranked[: body["capacity"]] if optimistic[i] > 0]
    free = sum(optimistic[i] for i in best)
    cost = free - sum(p * r for p, r in zip(played, optimistic, strict=True))
    by_estimate = sum(estimated[i] for i in best) - sum(p * r for p, r in zip(played, estimated, strict=True))
    return cost, by_estimate, free
