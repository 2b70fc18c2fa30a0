"""llama-server as a child process, and how to ask it for tokens."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING, Any

from paceline.params import file_of

from .child import HOST, Child, free_port
from .figures import Measurement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from paceline.messages import LoadPair


def arguments(load: LoadPair, flags: Sequence[str], port: int) -> list[str]:
    """Return what the server is started with.

    Beside the shared settings: one slot, and off what would cost time and serves no measurement
    (web interface, slot saving, checkpoints, logging, fitting to memory).
    """
    target = load.target
    shared = {
        "--model": target.path,
        "--ctx-size": target.n_ctx,
        "--threads": target.n_threads,
        "--threads-batch": target.n_threads_batch,
        "--gpu-layers": "auto" if target.n_gpu_layers < 0 else target.n_gpu_layers,
        "--flash-attn": target.flash_attn,
        "--cache-type-k": target.kv_type_k,
        "--cache-type-v": target.kv_type_v,
        "--parallel": 1,
        "--cache-ram": 0,
        "--ctx-checkpoints": 0,
        "--fit": "off",
        "--threads-http": 2,
        "--log-verbosity": 1,
        "--host": HOST,
        "--port": port,
    }
    if file_of(load.drafting):
        of_draft = {
            "--spec-draft-threads": "--threads",
            "--spec-draft-threads-batch": "--threads-batch",
            "--spec-draft-ngl": "--gpu-layers",
            "--spec-draft-type-k": "--cache-type-k",
            "--spec-draft-type-v": "--cache-type-v",
        }
        shared |= {flag: shared[of_target] for flag, of_target in of_draft.items()}
        shared["--spec-draft-model"] = file_of(load.drafting)
    pairs = [str(part) for pair in shared.items() for part in pair]
    return [*pairs, "--no-ui", "--no-slots", "--offline", *flags]


class Server(Child):
    """A running llama-server, for a with statement, which ends it in any case."""

    def __init__(
        self, program: Path, load: LoadPair, flags: Sequence[str], extra: Sequence[str] = ()
    ) -> None:
        port = free_port()
        command = [str(program), *arguments(load, flags, port), *extra]
        super().__init__("llama-server", command, port)

    def tokenize(self, messages: Sequence[dict[str, str]]) -> list[int]:
        """Return the conversation as tokens, through the model's template."""
        prompt = self.ask("POST", "/apply-template", {"messages": list(messages)})["prompt"]
        body = {"content": prompt, "add_special": True, "parse_special": True}
        return list(self.ask("POST", "/tokenize", body)["tokens"])

    def run(self, prompt: Sequence[int], n_tokens: int) -> Measurement:
        """Generate exactly `n_tokens`, always the likeliest."""
        body = {
            "prompt": list(prompt),
            "n_predict": n_tokens,
            "temperature": 0,
            "samplers": ["top_k"],  # the cheapest chain that is greedy
            "top_k": 1,
            "ignore_eos": True,
            "cache_prompt": False,
            "return_tokens": True,
            "stream": False,
        }
        start = time.perf_counter()
        answer = self.ask("POST", "/completion", body)
        wall_s = time.perf_counter() - start
        return read_answer(answer, wall_s)


def read_answer(answer: dict[str, Any], wall_s: float) -> Measurement:
    """Read the answer of /completion; its rate counts the tokens after the first one."""
    timings = answer["timings"]
    return Measurement(
        tokens=tuple(answer["tokens"]),
        decode_s=timings["predicted_ms"] / 1e3,
        total_s=(timings["prompt_ms"] + timings["predicted_ms"]) / 1e3,
        wall_s=wall_s,
        reported=timings["predicted_per_second"],
        drafted=timings.get("draft_n", 0),
        accepted=timings.get("draft_n_accepted", 0),
    )


def version(program: Path) -> str:
    """Return what the server says about itself."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return " ".join((done.stdout + done.stderr).split())
