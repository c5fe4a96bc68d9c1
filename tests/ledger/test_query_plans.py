"""No query of a desk's day reads the whole ledger, however long it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import event

from evenhand.desk import ChangeSettings, Decide, Desk, Withdraw
from evenhand.ledger.ledger import Ledger
from tests.support.desk_play import QUICK, done, people, play

WHOLE = ("SCAN events", "SCAN waiting_pairs", "(desk=?)")
"""A plan that says so looks at every row, or at every row of a desk."""

ALLOWED = ("waiting_pairs_order", "waiting_pairs_leases", "events_undoes", "snapshots", "lottery_secrets")
"""Read in order until enough is found, or small by nature."""


def test_every_query_uses_its_index(tmp_path: Path) -> None:
    """All statements sent to SQLite in some days of everything, with their query plans."""
    statements: dict[str, Any] = {}
    with Desk.open(f"sqlite:///{tmp_path}/ledger.db", "loans", **QUICK, seed=1, overlap=0.5) as desk:
        assert isinstance(desk.ledger, Ledger)

        @event.listens_for(desk.ledger.engine, "before_cursor_execute")
        def _record(connection: Any, cursor: Any, statement: str, values: Any, context: Any, many: bool) -> None:
            statements[statement] = values[0] if many else values

        reviews = play(desk, 3)
        rng = np.random.default_rng(0)
        made = done(desk.execute([Decide(people(rng, k=5), idempotency_key="k"), ChangeSettings({"capacity": 2})]))
        done(desk.execute([Withdraw(reviews[0].id)]))
        desk.catch_up(wait=True)
        desk.queue(3, after=desk.queue(1)[0].position)  # before all may be on lease
        desk.queue(3, reviewer="Kim")
        desk.explain(made[0].id)
        desk.explain(made[0].id, then=True)
        desk.decision(made[0].id)
        desk.events(after=3, kinds=("review", "withdrawal"))
        with desk.ledger.transaction() as connection:
            plans = {
                statement: [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)]
                for statement, values in dict(statements).items()
                if statement.startswith(("SELECT", "UPDATE", "DELETE"))
            }
    assert len(plans) > 10
    for statement, plan in plans.items():
        for step in plan:
            wrong = any(sign in step for sign in WHOLE) and not any(name in step for name in ALLOWED)
            assert not wrong or "count(*)" in statement, f"{statement}: {step}"
