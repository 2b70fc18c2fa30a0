"""``/metrics``: counts of answered requests, in the text format of Prometheus.

Names are llama-server's after the prefix ``paceline_``, where it has such a figure.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from paceline.messages import SOURCE_TARGET

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paceline.chat.reply import Reply
    from paceline.server.asking import Desk
    from paceline.server.journal import Entry

MEDIA_TYPE = "text/plain; version=0.0.4"

Labels = tuple[tuple[str, str], ...]

_HELP = {
    "requests_total": "Replies that were asked for, by route and by how they ended.",
    "prompt_tokens_total": "Tokens of prompts that were read.",
    "prompt_tokens_reused_total": "Tokens of prompts that were in the context already.",
    "prompt_seconds_total": "Seconds in which prompts were read.",
    "tokens_predicted_total": "Tokens that were generated.",
    "tokens_predicted_seconds_total": "Seconds in which they were generated.",
    "n_decode_total": "Decodes of the target that generated them.",
    "tokens_drafted_total": "Tokens that were drafted, by drafter and place in the draft, from 1.",
    "tokens_accepted_total": "Drafted tokens that became part of a reply, by the same.",
    "requests_processing": "Requests that are carried out at present.",
    "requests_deferred": "Requests that wait.",
    "predicted_tokens_seconds": "Tokens per second of the last reply.",
    "plain_tokens_seconds": "Tokens per second that it would have had without drafts.",
    "gain": "The former over the latter; absent where nothing was drafted.",
}


class Metrics:
    """Counts finished replies. On the server's thread."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[Labels]] = {
            name: Counter() for name in _HELP if name.endswith("_total")
        }
        self._last: Reply | None = None

    def take(self, entry: Entry) -> None:
        """Count a reply, as far as it came."""
        reply = entry.reply
        ended = reply.error.code if reply.error else reply.status
        self._add("requests_total", 1, route=entry.caller.route, status=ended)
        if reply.stats is not None:
            self._last = reply
            n_reused = reply.stats.n_reused
            self._add("prompt_tokens_total", reply.n_prefilled - n_reused)
            self._add("prompt_tokens_reused_total", n_reused)
            self._add("prompt_seconds_total", reply.stats.prefill_s)
        for step in reply.steps:
            self._add("tokens_predicted_total", len(step.tokens))
            self._add("tokens_predicted_seconds_total", step.total_s)
            self._add("n_decode_total", int(step.verify_s > 0))
            place = 0
            for draft in step.drafted:
                for _ in range(draft.n_drafted):
                    place += 1
                    self._count_place("tokens_drafted_total", draft.drafter, place)
            for token in step.tokens:
                if token.source != SOURCE_TARGET:
                    self._count_place("tokens_accepted_total", token.source, token.position + 1)

    def _count_place(self, name: str, drafter: str, place: int) -> None:
        self._add(name, 1, drafter=drafter, position=str(place))

    def _add(self, name: str, amount: float, **labels: str) -> None:
        self._counts[name][tuple(labels.items())] += amount  # type: ignore[assignment]

    def text(self, desk: Desk) -> str:
        """Return all figures.

        Args:
            desk: Has the numbers of waiting and running requests.
        """
        gauges: dict[str, float | None] = {
            "requests_processing": desk.n_running,
            "requests_deferred": desk.n_waiting,
        }
        if self._last is not None and self._last.stats is not None:
            stats = self._last.stats
            gauges["predicted_tokens_seconds"] = stats.tokens_per_s
            gauges["plain_tokens_seconds"] = stats.plain_tokens_per_s
            gauges["gain"] = stats.speedup.ratio if stats.speedup else None
        lines: list[str] = []
        for name in _HELP:
            if name in self._counts:
                lines += _lines(name, "counter", self._counts[name])
            elif gauges.get(name) is not None:
                lines += _lines(name, "gauge", {(): gauges[name]})
        return "\n".join(lines) + "\n"


def _lines(
    name: str, kind: Literal["counter", "gauge"], values: Mapping[Labels, float | None]
) -> Iterator[str]:
    """Yield the lines of one figure."""
    yield f"# HELP paceline_{name} {_HELP[name]}"
    yield f"# TYPE paceline_{name} {kind}"
    for labels, value in values.items():
        written = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels)
        yield f"paceline_{name}{{{written}}} {value}" if written else f"paceline_{name} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
