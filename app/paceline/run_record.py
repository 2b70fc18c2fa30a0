"""What is kept of one reply: what it was asked with, by which models, and every step. No I/O.

A run record says enough to understand the reply later, to draw its plot and its token colours
again, and to repeat it: models with their fingerprints, seed, sampling, strategy. The text is not
in it: that is the message's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from paceline.messages import FinishReason, StepCommitted, TurnStats
from paceline.params import Prompting, ReplySettings, SamplingParams

RunStatus = Literal["running", "finished", "failed"]
"""A stored record that is "running" belongs to a reply that the program did not see to its end."""


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """A model as it was when a reply was made.

    Attributes:
        name: What the file calls itself.
        file: The file's name without its folder.
        architecture: Of the header.
        description: Size and quantisation in words.
        n_params: Parameters.
        size_bytes: Size of the weights.
        n_ctx: Context in tokens.
        n_threads: Threads for decodes of one token.
        n_threads_batch: Threads for wider ones.
        n_gpu_layers: Layers on a GPU.
        fingerprint: SHA-256 over size, header and samples of the file; empty: not known.
        sha256: Of the whole file; empty: not known.
    """

    name: str
    file: str
    architecture: str = ""
    description: str = ""
    n_params: int = 0
    size_bytes: int = 0
    n_ctx: int = 0
    n_threads: int = 0
    n_threads_batch: int = 0
    n_gpu_layers: int = 0
    fingerprint: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class RunError:
    """Why a reply failed, and what to do about it."""

    code: str
    message: str
    hint: str = ""


INTERRUPTED = RunError(
    "interrupted",
    "Paceline ended while this reply was being written.",
    "What was there is kept. Continue the reply to have all of it.",
)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One reply in figures.

    Attributes:
        message_id: The message that has the text.
        status: How far it came.
        started_s: When it was handed to the engine, in seconds since the epoch; 0: not known.
        strategy: The strategy in force at the end.
        asked_strategy: The one that it began with.
        sampling: How tokens were drawn.
        max_tokens: Tokens at most.
        seed: Key of the noise; None: it never began.
        stop: Texts that would have ended it.
        system_prompt: What stood before the conversation; empty: nothing.
        cuts: Whether the oldest messages might be left out.
        n_cut: Messages that were left out because the context was too small.
        reason: Why it ended; None: it did not, or it failed.
        error: Why it failed.
        stats: Its figures; None where it did not finish.
        first_token_s: Seconds from the request to the first token.
        notes: What the engine remarked.
        target: The target; None: not known.
        draft: The draft model; None: there was none.
        app_version: Paceline's version.
        engine_version: llama-cpp-python's version.
        steps: One per decoding step; empty as well where they are read on demand.
        prompting: How the conversation became a prompt.
        n_parts: In how many turns it was written; `stats` are those of the last, steps of all.
        edited: Whether its user wrote the text, from an earlier reply.
    """

    message_id: str
    status: RunStatus = "running"
    started_s: float = 0.0
    strategy: str = ""
    asked_strategy: str = ""
    sampling: SamplingParams = field(default_factory=SamplingParams)
    max_tokens: int = 0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    system_prompt: str = ""
    cuts: bool = False
    n_cut: int = 0
    reason: FinishReason | None = None
    error: RunError | None = None
    stats: TurnStats | None = None
    first_token_s: float | None = None
    notes: tuple[str, ...] = ()
    target: ModelRecord | None = None
    draft: ModelRecord | None = None
    app_version: str = ""
    engine_version: str = ""
    steps: tuple[StepCommitted, ...] = ()
    prompting: Prompting = field(default_factory=Prompting)
    n_parts: int = 1
    edited: bool = False

    @property
    def settings(self) -> ReplySettings:
        """What it was drawn with, under the seed that it had."""
        return ReplySettings(
            self.sampling, self.max_tokens, self.seed, self.system_prompt, self.stop
        )
