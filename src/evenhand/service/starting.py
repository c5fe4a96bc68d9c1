"""A start that fails, in a sentence: the framework would hand the server a whole traceback to log."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

from evenhand.errors import EvenhandError

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Message, Receive, Scope, Send

log = logging.getLogger(__name__)


def say_why_it_fails(app: FastAPI) -> None:
    """From now on, when the application cannot start or stop, its server is told why in a sentence.

    The traceback is logged at the level debug.
    """
    lifespan = app.router.lifespan

    async def in_a_sentence(scope: Scope, receive: Receive, send: Send) -> None:
        async def told(message: Message) -> None:
            if message["type"].endswith(".failed"):
                doing = "start" if "startup" in message["type"] else "stop"
                log.debug("the service could not %s", doing, exc_info=True)
                message = {**message, "message": f"the service cannot {doing}: {reason_of(sys.exc_info()[1])}"}
            await send(message)

        await lifespan(scope, receive, told)

    app.router.lifespan = in_a_sentence  # type: ignore[method-assign]  # it has no other place for this


def reason_of(error: BaseException | None) -> str:
    """What an error says in one line; of one that nobody expected only its name, since its words may quote anything.

    >>> reason_of(KeyError("a secret"))
    'KeyError, see the log at the level debug'
    """
    if isinstance(error, EvenhandError):
        return " ".join(str(error).split())
    return f"{type(error).__name__}, see the log at the level debug"
