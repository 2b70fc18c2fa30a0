"""Every command that the engine takes and every event that it emits.

Commands are imperatives, events are past facts. All are frozen dataclasses of builtins, tuples and
other messages, so that the same engine can be hosted inline, in a thread or in a child process,
and every message can be pickled, logged and replayed; `paceline.codec` turns them into JSON and
back. There is no logic here.

Words of the field, used everywhere in this program: the *target* model decides the text, a
*drafter* proposes tokens, the target *verifies* them in one decode; drafted tokens that agree with
what the target samples are *accepted*, the rest is *rejected*; the token sampled behind the last
accepted one is the *bonus* token. What a step adds to the reply is *committed*. Drafted tokens
behind a committed end of generation or stop are *discarded*: they were never judged. So are those
whose batch could not be decoded.

Long: because one page of types that says what the program does is worth more than short files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from paceline.params import LogitBias as LogitBias  # noqa: PLC0414  they are found here, too
from paceline.params import ModelParams as ModelParams  # noqa: PLC0414
from paceline.params import SamplingParams as SamplingParams  # noqa: PLC0414

FinishReason = Literal["eog", "length", "stop", "context", "cancelled"]
SOURCE_TARGET = "target"
"""The source of a token that the target sampled itself; every other source is a drafter's id."""


# ------------------------------------------------------------------------------------- values


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation: the role is "system", "user" or "assistant"."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a loaded model is, for people and for the run record."""

    path: str
    name: str
    architecture: str
    description: str
    n_params: int
    size_bytes: int
    n_ctx: int
    n_ctx_train: int
    n_vocab: int
    n_layers: int
    n_threads: int
    n_threads_batch: int
    n_gpu_layers: int
    can_rollback: bool
    has_template: bool


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """One device that the native library can compute on; memory in bytes."""

    name: str
    description: str
    kind: Literal["cpu", "gpu", "igpu", "accel"]
    total_bytes: int
    free_bytes: int


@dataclass(frozen=True, slots=True)
class TokenTrace:
    """Where one committed token came from.

    Attributes:
        token: The token's id.
        source: "target", or the id of the drafter whose proposal was accepted.
        position: Place in the draft, 0 for the first drafted token; -1 for the target's own.
        confidence: What the drafter gave for the token, 0..1; None where it gives none.
        text_end: Characters of the reply up to and with this token. A token that ends within a
            UTF-8 character, or that is a control token, ends where the one before it ended.
    """

    token: int
    source: str
    position: int
    confidence: float | None
    text_end: int


@dataclass(frozen=True, slots=True)
class DraftCount:
    """What one drafter did in one step; drafted = accepted + rejected + discarded."""

    drafter: str
    n_drafted: int
    n_accepted: int
    n_discarded: int = 0


@dataclass(frozen=True, slots=True)
class DrafterStats:
    """A drafter's totals over one reply, as llama.cpp counts them (`common/speculative.cpp`).

    Attributes:
        drafter: The drafter's id.
        n_begin: Calls at the end of a prefill.
        n_draft: Calls for a proposal.
        n_accept: Calls after a step that verified a proposal of this drafter.
        begin_s: Seconds in the calls of `n_begin`; likewise `draft_s` and `accept_s`.
        draft_s: See `begin_s`.
        accept_s: See `begin_s`.
        drafts: Proposals with at least one token.
        drafts_accepted: Proposals of which at least one token was accepted.
        tokens: Tokens drafted.
        tokens_accepted: Tokens accepted.
        accepted_per_position: Accepted tokens by their place in the draft.
    """

    drafter: str
    n_begin: int
    n_draft: int
    n_accept: int
    begin_s: float
    draft_s: float
    accept_s: float
    drafts: int
    drafts_accepted: int
    tokens: int
    tokens_accepted: int
    accepted_per_position: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TurnStats:
    """The figures of one reply; times in seconds, rates in 0..1.

    Attributes:
        batch_invariant: Whether this backend gives the same logits at every batch width, as
            measured; None when not probed.
        n_prompt: Tokens of the prompt, reused ones included.
        n_reused: Tokens of the prompt that were still in the target's context.
        n_generated: Committed tokens, with the one from the prefill's logits.
        prefill_s: The target's prefill only.
        decode_s: From the prefill's end to the last commit; draft prefill, catch-up and probes
            included.
        total_s: prefill_s + decode_s.
        tokens_per_s: n_generated / decode_s.
        plain_tokens_per_s: From true plain steps; None below four of them.
        n_steps: Verify decodes of the target.
        n_drafted: Tokens drafted.
        n_accepted: Drafted tokens that were committed.
        n_discarded: Drafted tokens behind a committed end or stop.
        acceptance_rate: n_accepted / (n_drafted - n_discarded); None when nothing was drafted.
        mean_committed_per_step: Committed tokens per verify decode; None without a step.
        overhead_s: decode_s minus the time within native calls.
        by_drafter: One entry per drafter that was used.
    """

    batch_invariant: bool | None
    n_prompt: int
    n_reused: int
    n_generated: int
    prefill_s: float
    decode_s: float
    total_s: float
    tokens_per_s: float
    plain_tokens_per_s: float | None
    n_steps: int
    n_drafted: int
    n_accepted: int
    n_discarded: int
    acceptance_rate: float | None
    mean_committed_per_step: float | None
    overhead_s: float
    by_drafter: tuple[DrafterStats, ...] = ()


# ----------------------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class LoadPair:
    """Load a target and, optionally, a draft model; what was loaded before is freed first.

    Attributes:
        request_id: Answered in every event about this load; also what `cancel` takes.
        target: The target model.
        draft: The draft model; None for strategies that need none.
        cache_dir: Folder for measured facts about machine and models; empty: keep none.
        memory_dir: Folder for what drafters learn from turns that allow it; empty: keep nothing.
        lookup_cache: A static lookup-cache file for the drafter ``ngram-cache``; empty: none.
        exact: Choose batch widths at which the target's logits do not depend on the width, so
            that a reply is the same with any strategy on this machine; `notes` say what it costs.
    """

    request_id: str
    target: ModelParams
    draft: ModelParams | None = None
    cache_dir: str = ""
    memory_dir: str = ""
    lookup_cache: str = ""
    exact: bool = False


@dataclass(frozen=True, slots=True)
class StartTurn:
    """Generate one reply. Exactly one of messages, prompt and prompt_tokens is given.

    Attributes:
        turn_id: Answered in every event about this turn; also what `cancel` takes.
        messages: A conversation, put through the model's chat template.
        prompt: Raw text without a template; special tokens in it are plain text.
        prompt_tokens: Token ids, taken as they are.
        sampling: How tokens are drawn.
        strategy: ``ID[+ID…][:key=value]…``, e.g. ``draft:n_max=4``.
        max_tokens: Tokens to generate at most.
        seed: Key of the noise; None draws one, which the events report.
        stop: Texts that end the reply, cut off before the first of them.
        ignore_eog: Never end the generation: all end-of-generation tokens get -inf.
        remember: Whether drafters may keep what they learn from this turn in `memory_dir`
            (false: a private chat).
    """

    turn_id: str
    messages: tuple[ChatMessage, ...] = ()
    prompt: str | None = None
    prompt_tokens: tuple[int, ...] | None = None
    sampling: SamplingParams = field(default_factory=SamplingParams)
    strategy: str = "draft"
    max_tokens: int = 1024
    seed: int | None = None
    stop: tuple[str, ...] = ()
    ignore_eog: bool = False
    remember: bool = False


@dataclass(frozen=True, slots=True)
class Tune:
    """Change strategy and draft settings of the running turn from its next step on."""

    turn_id: str
    strategy: str


@dataclass(frozen=True, slots=True)
class CancelTurn:
    """Stop a turn or a load. Carried as a flag beside the queue, never behind other commands."""

    turn_id: str


@dataclass(frozen=True, slots=True)
class DescribeEngine:
    """Ask for versions and devices; answered by `EngineDescribed`."""


@dataclass(frozen=True, slots=True)
class Unload:
    """Free both models."""


@dataclass(frozen=True, slots=True)
class Shutdown:
    """Free everything and leave the loop; the last command of an engine's life."""


Command = LoadPair | StartTurn | Tune | CancelTurn | DescribeEngine | Unload | Shutdown


# ------------------------------------------------------------------------------------- events


@dataclass(frozen=True, slots=True)
class EngineDescribed:
    """The native library: version, build flags in words, devices, whether a GPU can be used."""

    library_version: str
    system_info: str
    supports_gpu: bool
    devices: tuple[DeviceInfo, ...]


@dataclass(frozen=True, slots=True)
class LoadProgressed:
    """Loading goes on; fraction 0..1 of the stage."""

    request_id: str
    stage: Literal["target", "draft"]
    fraction: float


@dataclass(frozen=True, slots=True)
class PairLoaded:
    """Both models are ready. `notes` are sentences for the user (e.g. why a draft is not used)."""

    request_id: str
    target: ModelInfo
    draft: ModelInfo | None
    load_s: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadFailed:
    """Nothing is loaded now. Code "cancelled" when the user stopped the load.

    `smaller_ctx` is a shorter context in tokens that may fit; 0: none is known.
    """

    request_id: str
    code: str
    message: str
    hint: str
    smaller_ctx: int = 0


@dataclass(frozen=True, slots=True)
class Unloaded:
    """Both models are freed."""


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The prompt is tokenized; the prefill begins."""

    turn_id: str
    n_prompt: int
    n_reused: int
    seed: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PrefillProgressed:
    """Tokens of the prompt that are in the target's context, of all."""

    turn_id: str
    n_done: int
    n_total: int


@dataclass(frozen=True, slots=True)
class StepCommitted:
    """One decoding step. The first one of a turn commits the token from the prefill's logits.

    Attributes:
        turn_id: The turn.
        step: 0 for the token from the prefill, then 1, 2, …
        tokens: The committed tokens in order; none where a reply that fails only gives out text
            that was held back.
        text: What the reply gained; may lag behind the tokens while a UTF-8 character is open or
            a stop text may be starting, and catches up in a later step or in `TurnFinished`.
        drafted: Per drafter used in this step.
        draft_s: Seconds spent on drafting.
        verify_s: Seconds in the target's decode; 0 for step 0.
        sample_s: Seconds spent on sampling and comparing the target's rows.
        total_s: Seconds from the last step's end to this one's end.
        plain: Whether this was a true plain step: one row, nothing drafted, the graph warm.
    """

    turn_id: str
    step: int
    tokens: tuple[TokenTrace, ...]
    text: str
    drafted: tuple[DraftCount, ...]
    draft_s: float
    verify_s: float
    sample_s: float
    total_s: float
    plain: bool = False


@dataclass(frozen=True, slots=True)
class TuneApplied:
    """The running turn uses this strategy from now on."""

    turn_id: str
    strategy: str


@dataclass(frozen=True, slots=True)
class TuneRejected:
    """The running turn goes on as before; `message` says why."""

    turn_id: str
    strategy: str
    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The reply is complete, or was stopped (reason "cancelled"). `tokens` keeps a final
    end-of-generation id and what a stop text cut from `text`.
    """  # noqa: D205

    turn_id: str
    reason: FinishReason
    text: str
    tokens: tuple[int, ...]
    seed: int
    strategy: str
    stats: TurnStats


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The turn ended in an error; what was committed before it stays valid."""

    turn_id: str
    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class EngineDied:
    """The engine is gone; `reason` says why, in words. Whoever hosts it may start it again."""

    reason: str
    hint: str = ""


Event = (
    EngineDescribed
    | LoadProgressed
    | PairLoaded
    | LoadFailed
    | Unloaded
    | TurnStarted
    | PrefillProgressed
    | StepCommitted
    | TuneApplied
    | TuneRejected
    | TurnFinished
    | TurnFailed
    | EngineDied
)
