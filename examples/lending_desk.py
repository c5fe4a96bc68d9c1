"""A lending desk over HTTP: applications, decisions, outcomes and reviews.

python examples/lending_desk.py

starts a service of its own, with a ledger in memory, and ends it. To drive one that `evenhand serve` started:

EVENHAND_URL=http://127.0.0.1:8000 EVENHAND_ADMIN_TOKEN=eh_... python examples/lending_desk.py
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import numpy as np

from evenhand import Number, Schema, YesNo
from evenhand.client import DeskClient, ServiceAway

DAYS = int(os.environ.get("EVENHAND_DAYS", "40"))

schema = Schema(
    [
        Number("income", low=0, high=100_000, unit="EUR", step=10_000),
        Number("employment", low=0, high=40, unit="years", step=5),
        YesNo("is_married"),
    ]
)
rng = np.random.default_rng(7)


def applicants(day: int) -> list[dict[str, Any]]:
    """Five applicants of one day, under pseudonyms."""
    return [
        {
            "id": f"applicant-{day}-{number}",
            "features": {
                "income": float(rng.integers(10, 100)) * 1000,
                "employment": float(rng.integers(0, 40)),
                "is_married": bool(rng.integers(2)),
            },
        }
        for number in range(5)
    ]


def flags(people: list[dict[str, Any]], decision: dict[str, Any]) -> list[tuple[str, str]]:
    """Pairs whose probabilities differ by more than income and employment do. Marriage does not count."""
    values = schema.encode([person["features"] for person in people])[:, :2] / schema.scale / 2
    chances = np.array(decision["probabilities"])
    names = [str(person["id"]) for person in people]
    return [
        (names[i], names[j])
        for i in range(5)
        for j in range(i)
        if abs(chances[i] - chances[j]) > np.linalg.norm((values[i] - values[j]) * [0.9, 0.5])
    ]


@contextmanager
def service() -> Iterator[str]:
    """The address of a running service: EVENHAND_URL, or one that this example starts and stops."""
    if "EVENHAND_URL" in os.environ:
        yield os.environ["EVENHAND_URL"]
        return
    command = [sys.executable, "-m", "evenhand", "serve", "--database", "memory:", "--without-tokens"]
    with subprocess.Popen(
        [*command, "--port", "0", "--no-request-log"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


def lend(client: DeskClient) -> None:
    """Some weeks at the desk."""
    name = f"loans-{uuid4().hex[:8]}"
    client.open_desk(name, schema=schema.to_dict(), capacity=2, structure="diagonal", epsilon=0.05, seed=7)
    flagged = 0
    for day in range(1, DAYS + 1):
        people = applicants(day)
        decision = client.decide(name, people)
        paid = {str(chosen): float(rng.uniform(0.2, 1.0)) for chosen in decision["chosen"]}
        if paid:
            client.outcome(name, decision["id"], paid)
        unfair = flags(people, decision)
        client.review(name, decision["id"], "complete", unfair=unfair, reviewer="Kim")
        flagged += len(unfair)
        if day in (1, 5, 20) or day == DAYS:
            today = np.round(decision["probabilities"], 2)
            print(f"day {day:3}: {flagged} unfair pairs so far; today's probabilities {today}")
    explanation = client.decision(name, decision["id"])["explanation"]
    print("why today's probabilities:", *explanation["sentences"], sep="\n  ")
    print("what was learned:", *client.metric(name)["sentences"], sep="\n  ")


with service() as address, DeskClient(address, os.environ.get("EVENHAND_ADMIN_TOKEN"), retries=4) as desk_client:
    try:
        lend(desk_client)
    except ServiceAway:
        sys.exit(f"no response from {address}; start a service first: evenhand serve")
