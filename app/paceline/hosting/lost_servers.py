"""RPC servers as the cause of the end of an engine's process with models on their devices.

llama.cpp ends the process when a connection breaks, and waits without end for a server that says
nothing more. Afterwards each server is asked whether it is still there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from paceline.engine.model.rpc_servers import ask_servers
from paceline.hosting.exit_reasons import AGAIN, Death
from paceline.sentence import joined, sentence

EndKind = Literal["broken", "hung", "other"]
""""broken": a connection broke; "hung": the process stopped and was killed; "other": any other
end."""
_FILE = "ggml-rpc.cpp"


def end_kind(last_words: str) -> EndKind:
    """Return how a process ended by itself, by its last words."""
    return "broken" if _FILE in last_words else "other"


def with_servers(death: Death, servers: Sequence[str], kind: EndKind) -> Death:
    """Return a death that names the servers which do not answer; takes two seconds at most.

    Args:
        death: The death of a process, described without regard to servers.
        servers: Servers with its models, as HOST:PORT; may be empty.
        kind: Kind of the process's end.
    """
    if not servers:
        return death
    lost = tuple(answer.problem for answer in ask_servers(servers) if answer.problem is not None)
    if not lost:
        return _all_answer(death, servers, kind)
    messages = joined([problem.message for problem in lost])
    reason = joined([death.reason, messages])
    if kind == "broken":
        reason = sentence("The engine lost a connection. {messages}", messages=messages)
    return replace(
        death, reason=reason, hint=lost[0].hint, is_native=False, by_server=True, lost=lost
    )


def _all_answer(death: Death, servers: Sequence[str], kind: EndKind) -> Death:
    names = ", ".join(servers)
    if kind == "broken":
        reason = sentence("The connection to the RPC server {names} was lost.", names=names)
        if len(servers) > 1:
            reason = sentence(
                "The connection to one of the RPC servers {names} was lost.", names=names
            )
        return replace(death, reason=reason, hint=AGAIN, is_native=False, by_server=True)
    if kind == "hung":
        return replace(
            death,
            reason=sentence(
                "{reason} Layers of its models were on {names}.", reason=death.reason, names=names
            ),
        )
    return death
