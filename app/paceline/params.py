"""What a user can set about models and sampling, as frozen values of builtins.

`messages` carries these; nothing else belongs here, so that a setting has one place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

KernelWish = Literal["auto", "own", "stock"]
"""Whose kernels compute on the CPU: "own", Paceline's, or the load fails; "stock", llama.cpp's;
"auto", Paceline's as far as they are proved here, otherwise llama.cpp's."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """Which drafters are asked for drafts, in this order, and with which settings.

    `engine.draft.strategy` reads and writes it as text: ``ID[+ID…][:key=value]…``.

    Attributes:
        drafters: Of each drafter its id, and its settings that differ from the defaults as names
            and values.
    """

    drafters: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]

    @classmethod
    def of(cls, drafter: str) -> Strategy:
        """Return the strategy that asks one drafter, with its default settings."""
        return cls(((drafter, ()),))


DEFAULT_STRATEGY = Strategy.of("auto")


@dataclass(frozen=True, slots=True)
class Prompting:
    """How a conversation becomes a prompt.

    Attributes:
        template: A chat template in place of the model's own, in Jinja; empty: its own.
        think: Whether or how much the model reasons before it answers: one of the words that
            its template has a switch for, such as "off" or "high"; empty: as it does by itself.
    """

    template: str = ""
    think: str = ""


@dataclass(frozen=True, slots=True)
class Translating:
    """How a draft model drafts whose vocabulary is another one.

    Attributes:
        replace: Texts of the target, each with what the draft model reads and writes in its place.
        bridges: Whether its tokens that the target does not have are drafted piece by piece.
    """

    replace: tuple[tuple[str, str], ...] = ()
    bridges: bool = False


@dataclass(frozen=True, slots=True)
class LogitBias:
    """A number added to one token's logit at every position; -inf forbids the token."""

    token: int
    bias: float


@dataclass(frozen=True, slots=True)
class Range:
    """Which numbers a setting may be; stands in the metadata of its field, see `range_of`.

    Attributes:
        low: The lowest.
        high: The highest that the engine takes.
        excludes_low: Whether `low` itself is refused by the engine.
        offered_low: The lowest that fields of the window offer; None: `low`.
        offered_high: The highest that fields, presets and the settings file take; None: `high`.
        usual: How far from 0 a slider goes within what is offered.
    """

    low: float
    high: float = math.inf
    excludes_low: bool = False
    offered_low: float | None = None
    offered_high: float | None = None
    usual: float = math.inf

    def __contains__(self, value: float) -> bool:
        """Whether the engine takes this number; it takes no NaN."""
        return self.low <= value <= self.high and not (self.excludes_low and value == self.low)

    def can_be_kept(self, value: float) -> bool:
        """Whether presets and the settings file take this number."""
        return self.low <= value <= self.offered[1]

    @property
    def offered(self) -> tuple[float, float]:
        """The lowest and the highest number that fields of the window offer."""
        low = self.low if self.offered_low is None else self.offered_low
        return low, self.high if self.offered_high is None else self.offered_high

    @property
    def on_slider(self) -> tuple[float, float]:
        """The ends of a slider."""
        low, high = self.offered
        return max(low, -self.usual), min(high, self.usual)


def _ranged(default: Any, *args: Any, **kwargs: Any) -> Any:
    return field(default=default, metadata={"range": Range(*args, **kwargs)})


def range_of(cls: type, name: str) -> Range:
    """Return the range of a dataclass's field that has one."""
    found: Range = cls.__dataclass_fields__[name].metadata["range"]  # type: ignore[attr-defined]
    return found


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How the next token is drawn from the target's distribution.

    Order: logit bias, penalties, grammar, top-k, top-p, min-p, temperature, noise. Temperature 0
    is argmax; top_k 0, top_p 1 and min_p 0 switch the truncation off. The penalties look at the
    last 64 tokens of prompt and reply, as llama.cpp's do by default.

    Attributes:
        temperature: How much chance decides; 0 always takes the likeliest token.
        top_k: Only the k likeliest tokens; 0 is off.
        top_p: Only the likeliest tokens that make up this share; 1 is off.
        min_p: Only tokens at least this likely in terms of the likeliest; 0 is off.
        repeat_penalty: Divides the positive logits of recent tokens, multiplies the negative
            ones; 1 is off.
        presence_penalty: Taken from the logit of every recent token; 0 is off.
        frequency_penalty: Taken once per recent occurrence; 0 is off.
        logit_bias: Numbers added to the logits of single tokens.
        grammar: GBNF that the reply must follow, with the rule ``root``; empty: none.
        json_schema: JSON schema that the reply must follow; empty: none. Not beside `grammar`.
    """

    temperature: float = _ranged(0.7, 0, 100, offered_high=5, usual=2)
    top_k: int = _ranged(40, 0, offered_high=100_000, usual=200)
    top_p: float = _ranged(0.95, 0, 1, excludes_low=True, offered_low=0.01)
    min_p: float = _ranged(0.05, 0, 1)
    repeat_penalty: float = _ranged(1.0, 0.01, 10, usual=2)
    presence_penalty: float = _ranged(0.0, -10, 10, usual=2)
    frequency_penalty: float = _ranged(0.0, -10, 10, usual=2)
    logit_bias: tuple[LogitBias, ...] = ()
    grammar: str = ""
    json_schema: str = ""


MAX_SEED = 2**53 - 1
"""The largest seed that survives JSON readers and number fields, which count in doubles."""
MAX_TOKENS = 1_000_000
"""Of one reply."""


@dataclass(frozen=True, slots=True)
class ReplySettings:
    """How replies are drawn: what a chat owns, and what a preset brings.

    Attributes:
        sampling: How tokens are drawn, and the form of the reply.
        max_tokens: Tokens of one reply at most.
        seed: A fixed seed; None draws a new one for every reply.
        system_prompt: Put before the conversation; empty: none.
        stop: Texts that end a reply.
    """

    sampling: SamplingParams = field(default_factory=SamplingParams)
    max_tokens: int = 1024
    seed: int | None = None
    system_prompt: str = ""
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelParams:
    """A model file and how to load it.

    Attributes:
        path: The GGUF file; of a split model the first part.
        n_ctx: Context in tokens; 0 takes 4096 or what the model was trained for, if smaller.
        n_threads: Threads for decodes of one token; 0 takes physical cores - 1, at least 1, or
            fewer where that was measured to be faster.
        n_threads_batch: Threads for wider decodes (prefill, verify); 0 takes what `n_threads`
            says, or physical cores - 1 where it says nothing.
        n_gpu_layers: Layers kept on the GPU; -1 as many as there are ("auto"); what fits
            is decided before, by `catalog.memory.plan`.
        device: Name of a device from `EngineDescribed.devices`; empty takes llama.cpp's choice.
        flash_attn: "auto", "on" or "off".
        kv_type_k: Type of the K cache: "f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1",
            "q4_0", "iq4_nl".
        kv_type_v: Type of the V cache; a quantised one needs flash attention.
        n_cpu_moe: Layers, counted from the first, whose mixture-of-experts weights stay in the
            CPU's memory; -1 those of all layers.
        split_mode: How several GPUs share a model: "none" (one GPU, `main_gpu`), "layer", "row",
            "tensor"; empty takes llama.cpp's choice.
        tensor_split: Share of the model per GPU, in proportions; empty takes llama.cpp's choice.
        main_gpu: Index of the GPU that holds everything when `split_mode` is "none".
        swa_full: Whether layers with a sliding window keep the whole text, so that any place of it
            can be gone back to; otherwise their window and a batch, which takes less memory.
        extra_bufts: Whether weights are repacked for special instructions of the CPU, such as AMX;
            off where these crash. Repacked weights are a copy in memory, others stay in the file.
    """

    path: str
    n_ctx: int = 0
    n_threads: int = 0
    n_threads_batch: int = 0
    n_gpu_layers: int = -1
    device: str = ""
    flash_attn: str = "auto"
    kv_type_k: str = "f16"
    kv_type_v: str = "f16"
    n_cpu_moe: int = 0
    split_mode: str = ""
    tensor_split: tuple[float, ...] = ()
    main_gpu: int = 0
    extra_bufts: bool = True
    swa_full: bool = True
