"""llama-server as a child process on the loopback, and how to ask it."""

from __future__ import annotations

import contextlib
import http.client
import json
import shutil
import socket
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING, Any, Self

from paceline.params import file_of

from .figures import Measurement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from paceline.messages import LoadPair

HOST = "127.0.0.1"
START_S = 300.0
REPLY_S = 1800.0


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


def free_port() -> int:
    """Return a free port of the loopback."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


class Server:
    """A running server, for a with statement, which ends it in any case."""

    def __init__(
        self, program: Path, load: LoadPair, flags: Sequence[str], extra: Sequence[str] = ()
    ) -> None:
        self._port = free_port()
        command = [str(program), *arguments(load, flags, self._port), *extra]
        # On Linux the system ends the server even when this process is killed.
        guard = shutil.which("setpriv")
        self._command = [guard, "--pdeathsig", "KILL", *command] if guard else command
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `stop`
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=subprocess.STDOUT,
            )
            self._await_health()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process, politely first."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        self._log.close()

    def tokenize(self, messages: Sequence[dict[str, str]]) -> list[int]:
        """Return the conversation as tokens, through the model's template."""
        prompt = self._ask("POST", "/apply-template", {"messages": list(messages)})["prompt"]
        body = {"content": prompt, "add_special": True, "parse_special": True}
        return list(self._ask("POST", "/tokenize", body)["tokens"])

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
        answer = self._ask("POST", "/completion", body)
        wall_s = time.perf_counter() - start
        return read_answer(answer, wall_s)

    def _ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        connection = http.client.HTTPConnection(HOST, self._port, timeout=REPLY_S)
        with contextlib.closing(connection):
            payload = None if body is None else json.dumps(body)
            connection.request(method, path, payload, {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer: dict[str, Any] = json.loads(response.read() or b"{}")
        if response.status != http.client.OK:
            raise ConnectionError(f"llama-server answered {response.status}: {answer}")
        return answer

    def _await_health(self) -> None:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            assert self._process is not None
            if self._process.poll() is not None:
                break
            with contextlib.suppress(OSError):
                self._ask("GET", "/health")
                return
            time.sleep(0.05)
        self._log.seek(0)
        told = self._log.read().decode(errors="replace")[-2000:]
        raise ConnectionError(f"llama-server did not start: {' '.join(self._command)}\n{told}")


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
