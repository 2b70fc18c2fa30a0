"""A program of its own that hosts the engine and asks for one reply; to be stopped and killed.

Run as ``python -m hosting.stand_alone TARGET DRAFT SILENT_S ORDERS``. It prints one JSON object
per line: first the engine's process id, then every event's type, last the reply or the reason why
there is none. Every decode from the turn's fifth on takes 20 ms longer.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from hosting.observed import Host
from hosting.sabotage import Fault, broken, order
from paceline.hosting import supervisor
from paceline.messages import EngineDied, Event, TurnFinished


def main(target: str, draft: str, silent_s: str, orders: str) -> None:
    """Load the pair, ask for one reply, close."""
    supervisor.SILENT_S = float(silent_s)

    def tell(event: Event) -> None:
        line: dict[str, Any] = {"event": type(event).__name__}
        if isinstance(event, TurnFinished):
            line["text"] = event.text
        if isinstance(event, EngineDied):
            line["reason"] = event.reason
        say(line)

    with Host((Path(target), Path(draft)), broken(Path(orders))) as host:
        host.ready()
        order(Path(orders), Fault("crawl", (0.02, 10**9, 0.0), at=5))
        say({"engine": host.service.pid})
        host.hear = tell
        host.reply(max_tokens=80)
    say({"event": "closed"})


def say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
