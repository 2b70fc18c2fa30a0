"""The model card: a template whose figures all come from measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

TEMPLATE = Path(__file__).resolve().parents[1] / "MODEL_CARD.md.in"


def filled_card(
    found: Mapping[str, Any], counts: Mapping[str, Any], about: Mapping[str, Any]
) -> str:
    """Return the card.

    Args:
        found: What `evaluate` measured.
        counts: Chats by set and kind, and tokens by set.
        about: Per part, the shape and what is known about the training.

    Raises:
        KeyError: The template asks for something that was not measured.
    """
    now = found["now"]
    fields: dict[str, object] = {
        "chats": f"{sum(counts['chats']['learnt'].values()):,}",
        "million_tokens": f"{counts['tokens']['learnt']['tokens'] / 1e6:.1f}",
        "acceptance": _acceptance(now["acceptance"], found["before"].get("acceptance", [])),
        "right": _right(now["right"]),
        "speeds": _speeds(now["speeds"]),
        "cpu": found["machine"]["cpu"],
        "threads": found["machine"]["threads"],
        "same_ids": found["same_ids"],
        "judged": found["n_judged"],
    }
    for part in ("target", "draft"):
        size, training = about[part]["size"], about[part]["about"]
        fields |= {f"{part}_{key}": value for key, value in size.items()}
        fields |= {
            f"{part}_file": found["files"][part]["name"],
            f"{part}_mb": f"{found['files'][part]['bytes'] / 1e6:.1f}",
            f"{part}_params": f"{found['files'][part]['params'] / 1e6:.1f}",
            f"{part}_seen": _seen(training),
            f"{part}_passes": _passes(training, counts),
            f"{part}_minutes": f"{training['seconds'] / 60:.0f}",
        }
        for name in ("unseen", "rephrased"):
            fields[f"{part}_{name}"] = _both(now["loss"], found["before"].get("loss"), part, name)
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(fields)


def _seen(training: Mapping[str, Any]) -> str:
    millions = training["steps"] * training["batch"] * training["length"] / 1e6
    return f"{millions:.{0 if millions >= 10 else 1}f}"


def _passes(training: Mapping[str, Any], counts: Mapping[str, Any]) -> str:
    seen = training["steps"] * training["batch"] * training["length"]
    return f"{seen / counts['tokens']['learnt']['tokens']:.1f}"


def _both(now: Mapping[str, Any], before: Mapping[str, Any] | None, part: str, name: str) -> str:
    text = f"{now[part][name]['nats_per_byte']:.3f}"
    return f"{text} ({before[part][name]['nats_per_byte']:.3f} before)" if before else text


def _acceptance(now: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]]) -> str:
    old = {(each["workload"], each["temperature"]): each["rate"] for each in before}
    lines = ["| workload | temperature | accepted | before |", "|---|---|---|---|"]
    for each in now:
        was = old.get((each["workload"], each["temperature"]))
        told = f"{was:.0%}" if was is not None else "-"
        lines.append(
            f"| {each['workload']} | {each['temperature']:g} | {each['rate']:.0%} | {told} |"
        )
    return "\n".join(lines)


def _right(right: Mapping[str, Sequence[int]]) -> str:
    lines = ["| asked for | right | of |", "|---|---|---|"]
    lines += [f"| {aspect} | {n} | {of} |" for aspect, (n, of) in sorted(right.items())]
    return "\n".join(lines)


def _speeds(speeds: Mapping[str, Mapping[str, float]]) -> str:
    strategies = list(next(iter(speeds.values())))
    head = "| workload | " + " | ".join(strategies) + " |"
    lines = [head, "|---|" + "---|" * len(strategies)]
    for name, by_strategy in speeds.items():
        cells = " | ".join(f"{by_strategy[each]:.0f}" for each in strategies)
        lines.append(f"| {name} | {cells} |")
    return "\n".join(lines)
