#!/usr/bin/env python3
"""Measure a pair: ``python packaging/demo_pair/evaluate.py --folder FOLDER``.

Needs Paceline, not PyTorch. Takes the GGUF files and the held-out chats of a folder that
`make_demo_pair.py` filled, measures them and the pair that is shipped, and writes
``evaluation.json``, ``answers.md`` (ten questions, answered by both) and ``MODEL_CARD.md`` there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from demo_pair.chats.chat import Chat, read_chats
from demo_pair.judging import talking
from demo_pair.judging.card import filled_card
from demo_pair.judging.engine import Pair
from demo_pair.judging.held_out import Judge
from demo_pair.learning.sizes import Size
from demo_pair.learning.tokens import Tokens
from paceline.bench.workload import read_workloads, shipped_workloads
from paceline.paths import demo_pair

FILES = {part: f"paceline-demo-{part}-q8_0.gguf" for part in ("target", "draft")}
TEMPERATURES = (0.0, 0.8)
HELD_OUT = ("unseen", "rephrased")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write; returns the exit code."""
    parser = argparse.ArgumentParser(description="Measure a demo pair.")
    parser.add_argument("--folder", type=Path, required=True, help="what make_demo_pair.py filled")
    parser.add_argument("--chats", type=int, default=400, help="held-out chats of each kind")
    parser.add_argument("--repeats", type=int, default=3, help="of the speed measurement")
    parser.add_argument("--threads", type=int, default=0, help="0: as Paceline chooses")
    parser.add_argument("--no-before", action="store_true", help="leave the shipped pair out")
    options = parser.parse_args(arguments)
    folder = options.folder
    held_out = {
        n: list(read_chats(folder / "text" / f"{n}.jsonl"))[: options.chats] for n in HELD_OUT
    }
    now = {part: folder / file for part, file in FILES.items()}
    found: dict[str, Any] = {
        "n_judged": options.chats,
        "before": {},
        "files": described(now, folder),
    }
    found["same_ids"] = same_ids(now["target"], held_out["unseen"], folder)
    answers = ["# Ten questions", "## This pair", ""]
    pairs = {"now": (now["target"], now["draft"])}
    if not options.no_before:
        pairs["before"] = demo_pair()
    for name, (target, draft) in pairs.items():
        print(f"Measuring {target.name} ({name})", flush=True)
        found[name], transcript = measured(target, draft, held_out, options)
        answers += ["## The shipped pair", ""] if name == "before" else []
        answers.append(transcript)
    found["machine"] = {"cpu": cpu_name(), "threads": options.threads or "as Paceline chooses"}
    write(folder, found, "\n".join(answers))
    return 0


def measured(
    target: Path, draft: Path, held_out: dict[str, list[Chat]], options: argparse.Namespace
) -> tuple[dict[str, Any], str]:
    """Return everything about one pair, and its answers as Markdown."""
    found: dict[str, Any] = {"loss": {}}
    for part, path in (("target", target), ("draft", draft)):
        judge = Judge(path, options.threads or None)
        found["loss"][part] = {n: asdict(judge.loss(chats)) for n, chats in held_out.items()}
        judge.close()
    workloads = read_workloads(shipped_workloads())
    with Pair(target, draft, options.threads) as pair:
        asked = [chat for chats in held_out.values() for chat in chats]
        prompts = [*workloads, *talking.workloads_of(asked)]
        accepted = talking.acceptance(pair, prompts, TEMPERATURES)
        found["acceptance"] = [asdict(each) for each in accepted]
        found["right"] = talking.right_answers(pair, held_out["rephrased"])
        found["speeds"] = talking.speeds(pair, workloads, options.repeats)
        return found, talking.transcript(pair)


def same_ids(target: Path, chats: list[Chat], folder: Path) -> str:
    """Return of how many chats llama.cpp makes the ids that were learnt, in words.

    Raises:
        ValueError: Not of all: the file names a wrong cut, and the model would not be understood.
    """
    judge = Judge(target)
    n = judge.same_ids(chats, Tokens.load(folder / "tokens" / "unseen.npz"))
    judge.close()
    if n != len(chats):
        raise ValueError(f"llama.cpp makes other ids of {len(chats) - n} of {len(chats)} chats")
    return f"{n} of {len(chats)}"


def described(files: dict[str, Path], folder: Path) -> dict[str, Any]:
    """Return names and sizes of the files."""
    found = {}
    for part, path in files.items():
        size = json.loads((folder / part / "index.json").read_text(encoding="utf-8"))["size"]
        n_params = Size(**size).n_params
        found[part] = {"name": path.name, "bytes": path.stat().st_size, "params": n_params}
    return found


def cpu_name() -> str:
    """Return what the processor is called."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown"


def write(folder: Path, found: dict[str, Any], answers: str) -> None:
    """Write the three files, and show the answers."""
    about = {
        part: json.loads((folder / part / "index.json").read_text(encoding="utf-8"))
        for part in FILES
    }
    counts = {
        "chats": json.loads((folder / "text" / "counts.json").read_text(encoding="utf-8")),
        "tokens": json.loads((folder / "tokens" / "counts.json").read_text(encoding="utf-8")),
    }
    text = json.dumps(found, indent=1) + "\n"
    (folder / "evaluation.json").write_text(text, encoding="utf-8")
    (folder / "answers.md").write_text(answers, encoding="utf-8")
    (folder / "MODEL_CARD.md").write_text(filled_card(found, counts, about), encoding="utf-8")
    print(answers)


if __name__ == "__main__":
    sys.exit(main())
