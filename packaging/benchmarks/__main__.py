"""``python packaging/benchmarks NAME …``: run a benchmark; ``--help`` lists them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent


class Benchmark(NamedTuple):
    """A benchmark and its purpose.

    Attributes:
        module: Its module; `main` takes the arguments and returns the exit code.
        measures: Description of the measurement.
        page: The document with the sentence that it backs, from the repository's root.
        sentence: Words of that sentence.
    """

    module: str
    measures: str
    page: str
    sentence: str


BENCHMARKS = {
    "own_time": Benchmark(
        "benchmarks.own_time",
        "the engine's own time per step and token, by part, and beside another version's",
        "app/decisions/102-every-function-costs.md",
        "A step's own time in µs",
    ),
    "sweep": Benchmark(
        "benchmarks.sweep",
        "Auto against the best fixed setting by real decodes: fourteen kinds of text",
        "app/decisions/111-costs-by-octave-of-the-context.md",
        "of the best fixed setting",
    ),
    "widths": Benchmark(
        "benchmarks.widths",
        "what a decode of n tokens costs, by Paceline's kernels and by llama.cpp's; their bits",
        "app/kernels/README.md",
        "measures seconds of a decode of n tokens",
    ),
    "reading": Benchmark(
        "benchmarks.reading",
        "how fast a prompt is read, by Paceline's kernels and by llama.cpp's",
        "app/kernels/README.md",
        "measures how fast prompts are read",
    ),
    "rivals": Benchmark(
        "benchmarks.rivals",
        "decodes and reading by turns: ours, those of a version before, llama.cpp, ik_llama.cpp",
        "app/kernels/README.md",
        "measures ours beside those of another version",
    ),
    "losses": Benchmark(
        "benchmarks.losses",
        "how well a model foretells texts by Paceline's kernels and by llama.cpp's",
        "app/kernels/README.md",
        "measures how well a model foretells",
    ),
    "first_word": Benchmark(
        "benchmarks.first_word",
        "seconds to the first token: cold, from the context, from memory, from disk",
        "app/decisions/151-states-are-stored-in-blocks.md",
        "is put back before a prompt that begins alike",
    ),
    "state_costs": Benchmark(
        "benchmarks.state_costs",
        "bytes and seconds of stored states by type of cache; reading and steps beside storing",
        "app/decisions/151-states-are-stored-in-blocks.md",
        "copied out in 20 ms and back in 3 ms",
    ),
    "same_text": Benchmark(
        "benchmarks.same_text",
        "replies and rows of logits that differ from plain decoding's, beside what is promised",
        "README.md",
        "the same turn gives the same reply with any strategy",
    ),
    "start": Benchmark(
        "bench_start",
        "the start of the window on 10,000 chats; opening, searching, another theme",
        "README.md",
        "later starts show an empty frame at once and the window one to two seconds later",
    ),
    "replay": Benchmark(
        "benchmarks.replay",
        "what a long reply that streams costs the window",
        "app/ARCHITECTURE.md",
        "the window paints at its own pace",
    ),
    "wire": Benchmark(
        "benchmarks.wire",
        "what HTTP takes of the speed of a reply, and of the time to its first text",
        "app/decisions/137-sessions-are-asked-over-http.md",
        "HTTP takes",
    ),
    "versus_server": Benchmark(
        "versus_server",
        "the engine, or sessions of an agent over HTTP, against llama.cpp's own server, in turns",
        "app/decisions/003-no-decode-again-on-the-draft.md",
        "llama.cpp's server decodes",
    ),
    "versus_caches": Benchmark(
        "versus_caches",
        "what an agent's session and chats by turns wait for, against llama.cpp's prompt cache",
        "app/decisions/151-states-are-stored-in-blocks.md",
        "agents read theirs dozens of times",
    ),
}


def overview() -> str:
    """Return what each benchmark measures and which sentence it backs."""
    lines = ["usage: python packaging/benchmarks NAME …", ""]
    for name, benchmark in BENCHMARKS.items():
        lines.append(f"{name:15}{benchmark.measures}")
        lines.append(f"{'':15}{benchmark.page}: “{benchmark.sentence}”")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Run the benchmark that the first argument names with the other ones; returns its status."""
    name, *rest = arguments or [""]
    if name not in BENCHMARKS:
        print(overview())
        return 0 if name in {"-h", "--help"} else 2
    sys.path[0] = str(FOLDER.parent)  # it was this folder, which is a package
    status: int = importlib.import_module(BENCHMARKS[name].module).main(rest)
    return status


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
