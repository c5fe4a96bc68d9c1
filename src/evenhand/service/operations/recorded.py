"""A command carried out, and the answer made of its event alone: so the same event always gives the same answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.service.answer import Answer, told

if TYPE_CHECKING:
    from evenhand.desk.commands import Command
    from evenhand.service.call import Call


async def recorded(call: Call, command: Command, status: int = 201) -> Answer:
    """The answer to a command once its event is durable."""
    event = await (await call.service.desks.get(call.desk)).record(command)
    content = event.content
    answer = {name: content[name] for name in ("id", "desk", "seq", "time", "kind")}
    if "decision" in content["body"]:
        answer["decision"] = content["body"]["decision"]
    return told(answer, status)
