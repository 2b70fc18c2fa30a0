"""Settings of models, of drafting for them and of sampling, as frozen values.

`messages` carries these; nothing else belongs here, so that a setting is defined at one place: its
field, `declared` with everything that window, command line, presets and engine need.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import msgspec

from paceline.codec import Checked, Tagged
from paceline.errors import refuse
from paceline.parameters import MAX_INT, Option, declared

KernelWish = Literal["auto", "own", "stock"]
"""Kernels for the CPU: "own" for Paceline's (or the load fails), "stock" for llama.cpp's, "auto"
for Paceline's as far as they pass their test here, otherwise llama.cpp's."""


class Strategy(Checked, frozen=True):
    """A sequence of drafters with their settings, in the order in which they are asked.

    `engine.draft.strategy` converts it from and to text: ``ID[+ID…][:key=value]…``.

    Attributes:
        drafters: For each drafter, its id and the names and values of settings that differ from the
            defaults.
    """

    drafters: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]

    @classmethod
    def of(cls, drafter: str) -> Strategy:
        """Return the strategy that asks one drafter, with its default settings."""
        return cls(((drafter, ()),))


DEFAULT_STRATEGY = Strategy.of("auto")


@dataclass(frozen=True, slots=True)
class Prompting:
    """Settings of the conversion of a conversation to a prompt.

    Attributes:
        template: A chat template in Jinja that replaces the model's own; empty for its own.
        think: Whether or how much the model reasons before it answers: one of the words of its
            template's switch, such as "off" or "high"; empty for its default.
    """

    template: str = ""
    think: str = ""


@dataclass(frozen=True, slots=True)
class Translating:
    """Settings of a draft model with another vocabulary than the target's.

    Attributes:
        replace: Pairs of a text of the target and the text that the draft model reads and writes
            instead.
        bridges: Whether its tokens that the target does not have are drafted piece by piece.
    """

    replace: tuple[tuple[str, str], ...] = ()
    bridges: bool = False


@dataclass(frozen=True, slots=True)
class LogitBias:
    """A number added to one token's logit at every position; -inf forbids the token."""

    token: int
    bias: float


def read_bias(text: str) -> LogitBias:
    """Parse ``ID=X``; X may be ``-inf`` or ``false``, which forbid the token.

    Raises:
        ValueOutOfRangeError: The text has another form.
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        refuse("“{text:.60}” is not of the form ID=X.", text=text)
    if not name.isdecimal() or int(name) > MAX_INT:
        refuse("“{name:.60}” is no token id: give a whole number.", name=name)
    try:
        bias = -math.inf if value.lower() == "false" else float(value)
    except ValueError:
        bias = math.nan
    if math.isnan(bias):
        refuse("“{value:.60}” is no number.", value=value)
    return LogitBias(int(name), bias)


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """Settings of drawing the next token from the target's distribution.

    Order: logit bias, penalties, grammar, top-k, top-p, min-p, temperature, noise. Temperature 0
    is argmax. The penalties look at the last 64 tokens of prompt and reply, as llama.cpp's do by
    default.

    Attributes:
        logit_bias: Numbers added to the logits of single tokens.
        grammar: GBNF that the reply must match, with the rule ``root``; empty for none.
        json_schema: JSON schema that the reply must match; empty for none. Not together with
            `grammar`.
    """

    temperature: float = declared(
        0.7, "Temperature",
        "How much chance has a say. 0 always takes the likeliest token; usual are 0.2 for facts "
        "and code, 0.7 for chat, 1 for stories. The lower, the more guesses are right.",
        0, 100, offered_high=5, usual=2,
    )  # fmt: skip
    top_k: int = declared(
        40, "Top-k",
        "Only this many of the likeliest tokens can be drawn, whatever their probabilities. "
        "Usual: 20 to 100; 0 means all.",
        0, MAX_INT, off=0, offered_high=100_000, usual=200,
    )  # fmt: skip
    top_p: float = declared(
        0.95, "Top-p",
        "Only the likeliest tokens that together have this probability: few where the model is "
        "sure, many where it is not. Usual: 0.8 to 0.95; 1 means all.",
        0, 1, off=1, excludes_low=True, offered_low=0.01,
    )  # fmt: skip
    min_p: float = declared(
        0.05, "Min-p",
        "Only tokens that have at least this share of the likeliest one's probability. Keeps high "
        "temperatures readable. Usual: 0.02 to 0.1; 0 means all.",
        0, 1, off=0,
    )  # fmt: skip
    # A smaller one would exceed the range of float32.
    repeat_penalty: float = declared(
        1.0, "Repeat penalty",
        "Makes the last 64 tokens less likely to come again. Helps small models that go in "
        "circles; harms code and tables. Usual: 1 to 1.15; 1 is off.",
        0.01, 10, off=1, usual=2,
    )  # fmt: skip
    presence_penalty: float = declared(
        0.0, "Presence penalty",
        "Taken once from the logit of every token among the last 64: draws the reply to new "
        "words. Usual: 0 to 1; 0 is off.",
        -10, 10, off=0, usual=2,
    )  # fmt: skip
    frequency_penalty: float = declared(
        0.0, "Frequency penalty",
        "Taken once for each time that a token is among the last 64: the more often, the less "
        "likely. Usual: 0 to 0.5; 0 is off.",
        -10, 10, off=0, usual=2,
    )  # fmt: skip
    logit_bias: tuple[LogitBias, ...] = declared(
        (), "Logit bias",
        "Numbers added to the logits of single tokens, by their ids; -inf forbids a token. "
        "Usual: -5 to 5. For example: 13=-2.5, 50=-inf",
        unset="No logit bias",
        option=Option(
            help="add X to the logit of this token; -inf or false forbids it; can be given "
            "several times",
            metavar="ID=X", read=read_bias, repeats=True,
        ),
    )  # fmt: skip
    grammar: str = declared("", "Grammar", unset="Free text")
    json_schema: str = declared("", "JSON schema", unset="Free text")


MAX_SEED = 2**53 - 1
"""Maximum seed that JSON readers and number fields, which use doubles, preserve."""


_SIGNS = {"\\": "\\", "n": "\n", "t": "\t", "r": "\r"}


def read_stop(typed: str) -> str:
    r"""Return the stop string for a text typed in one line.

    Line ends and tabs are common in stop strings, so ``\n``, ``\t``, ``\r`` and ``\\`` stand for
    one character; a backslash before other characters stays.
    """
    return re.sub(r"\\([\\ntr])", lambda found: _SIGNS[found[1]], typed)


def shown_stop(stop: str) -> str:
    """Return the typed text that `read_stop` converts to this stop string."""
    names = {sign: f"\\{name}" for name, sign in _SIGNS.items()}
    return re.sub(r"[\\\n\t\r]", lambda found: names[found[0]], stop)


@dataclass(frozen=True, slots=True)
class ReplySettings:
    """Settings of replies, which belong to a chat or a preset.

    Attributes:
        sampling: Sampling settings, with the form of the reply.
        max_tokens: Maximum number of tokens of a reply.
        seed: A fixed seed, or None for a new one for every reply.
        system_prompt: Text before the conversation; may be empty.
        stop: Texts that end a reply.
    """

    sampling: SamplingParams = field(default_factory=SamplingParams)
    max_tokens: int = declared(
        1024, "Longest reply",
        "The reply ends there, wherever it is. A token is about three quarters of an English "
        "word. Usual: 512 to 4096.",
        1, MAX_INT, offered_high=1_000_000, unit="tokens",
        option=Option(help="tokens to generate at most"),
    )  # fmt: skip
    seed: int | None = declared(
        None, "Seed",
        "The same seed gives the same reply to the same question, with any strategy. For "
        "comparisons.",
        0, 2**63 - 1, offered_high=MAX_SEED, unset="New seed each time", kind="int",
        option=Option(help="same seed, same reply (default: drawn and reported)"),
    )  # fmt: skip
    system_prompt: str = declared(
        "", "System prompt",
        "Stands before every conversation and says what the model should be and how it should "
        "answer. It takes room in the context.",
        unset="No system prompt",
    )  # fmt: skip
    stop: tuple[str, ...] = declared(
        (), "Stop strings", unset="No stop strings",
        option=Option(
            help="end the reply before this text in the answer (the reasoning does not count); "
            "\\n is a line break, \\t a tab and \\\\ a backslash (\\\\n: a backslash and an n); "
            "can be given several times",
            metavar="TEXT", read=read_stop, repeats=True,
        ),
    )  # fmt: skip


def read_shares(text: str) -> tuple[float, ...]:
    """Parse the shares of several devices, such as ``3, 1``; an empty text has none.

    A trailing comma is allowed, as typed before the next share.

    Raises:
        ValueOutOfRangeError: A part is not a number, or below 0.
    """
    shares = []
    text = text.strip().removesuffix(",")
    for part in (part.strip() for part in text.split(",") if text):
        try:
            share = float(part)
        except ValueError:
            share = math.nan
        if not 0 <= share < math.inf:
            refuse("“{part:.60}” is no share: give numbers such as 3, 1.", part=part)
        shares.append(share)
    if shares and not any(shares):
        refuse("At least one share must be above 0.")
    return tuple(shares)


_KV_TYPES = ("f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl")
_KV_CHOICES = tuple((kind, kind) for kind in _KV_TYPES)
_MAX_THREADS = 512  # GGML_MAX_N_THREADS


@dataclass(frozen=True, slots=True)
class ModelParams:
    """A model file and the settings of its load.

    Attributes:
        path: The GGUF file; for a split model its first part.
        n_ctx: Size of the context in tokens; 0 for 4096 or what the model was trained for, if
            smaller.
        n_threads: Number of threads for decodes of one token; 0 for physical cores - 1, at least 1,
            or fewer if that was measured to be faster.
        n_threads_batch: Number of threads for wider decodes (prefill, verify); 0 for `n_threads`,
            or physical cores - 1 if that is 0.
        n_gpu_layers: Number of layers on devices besides the processor; -1 for as many as there are
            ("auto"); `catalog.memory.plan` decides before what fits.
        device: Comma-separated names of devices from `EngineDescribed.devices`; empty for the
            choice of `engine.model.placement`.
        kv_type_v: Type of the V cache; a quantised one needs flash attention.
        n_cpu_moe: Number of layers, from the first on, whose mixture-of-experts weights stay in the
            CPU's memory; -1 for all layers.
        split_mode: The way in which several devices share a model; empty for llama.cpp's choice.
        tensor_split: Proportions of the model by device; empty for llama.cpp's choice.
        main_gpu: Index of the device that holds everything when `split_mode` is "none".
        extra_bufts: Whether weights are repacked for special instructions of the CPU, such as AMX;
            turn it off if these crash. Repacked weights are a copy in memory, others stay in the
            file.
        kv_offload: Whether a layer's cache lies on the device of the layer; otherwise in main
            memory.
        swa_full: Whether layers with a sliding window keep the whole text, so that any place of it
            can be gone back to; otherwise their window and a batch, which takes less memory.
    """

    path: str
    n_ctx: int = declared(
        0, "Context", "Tokens that fit into a chat; auto: 4096, or fewer",
        1, MAX_INT, offered_high=1_048_576, auto=0, step=512,
        option=Option(
            "ctx{}", "context of {whose} in tokens (default: 4096, or the model's own if smaller)"
        ),
    )  # fmt: skip
    n_threads: int = declared(
        0, "Threads", "Processor threads; auto: physical cores - 1", 1, _MAX_THREADS, auto=0,
        option=Option(
            "threads{}",
            "threads of {whose} for single tokens (default: physical cores - 1, or fewer where "
            "that was measured to be faster)",
        ),
    )  # fmt: skip
    n_threads_batch: int = declared(
        0, "Threads for batches", "", 1, _MAX_THREADS, auto=0,
        option=Option(
            "threads-batch{}",
            "threads of {whose} for several tokens at once (default: --threads{suffix})",
        ),
    )  # fmt: skip
    n_gpu_layers: int = declared(
        -1, "GPU layers",
        "Layers kept on GPUs or on devices of RPC servers; auto: as many as there is room for",
        0, MAX_INT, offered_high=999, auto=-1,
        option=Option(
            "gpu-layers{}",
            "layers of {whose} kept on GPUs or on devices of RPC servers (default: auto, as many "
            "as find room, the draft model's first)",
            metavar="N|auto",
        ),
    )  # fmt: skip
    device: str = declared(
        "", "Device",
        "The devices that layers are put on, with commas between them; auto: those of RPC servers "
        "and all GPUs",
        unset="auto",
        option=Option(
            "device{}",
            "devices for the layers of {whose}, as `paceline doctor` names them (default: those of "
            "RPC servers and all GPUs; with layers on auto the GPUs alone where these suffice)",
            "NAME,…",
        ),
    )  # fmt: skip
    flash_attn: str = declared(
        "auto", "Flash attention", "A way of computing attention that takes less memory",
        choices=(("auto", "auto"), ("off", "off"), ("on", "on")),
    )  # fmt: skip
    kv_type_k: str = declared(
        "f16", "K cache",
        "How keys are kept: q8_0 takes half the memory of f16, at hardly any loss",
        choices=_KV_CHOICES,
        option=Option(
            "kv-type{}-k", "type of {whose}'s K cache: {choices} (default: f16). {cost}", "TYPE"
        ),
    )  # fmt: skip
    kv_type_v: str = declared(
        "f16", "V cache", "How values are kept; a quantised type needs flash attention",
        choices=_KV_CHOICES,
        option=Option(
            "kv-type{}-v",
            "type of {whose}'s V cache: {choices} (default: f16). What a quantised one costs, "
            "--kv-type-k says.",
            "TYPE",
        ),
    )  # fmt: skip
    n_cpu_moe: int = declared(
        0, "Experts on CPU",
        "Layers, counted from the first, whose experts stay in the processor's memory: for "
        "mixture-of-experts models that do not fit onto the GPU. One below 0 is all.",
        0, 1000, offered_high=999, auto=-1, unset="all",
        option=Option(
            "n-cpu-moe{}", "keep those of the first N layers there", flag="cpu-moe{}",
            flag_help="keep {whose}'s mixture-of-experts weights in the CPU's memory",
        ),
    )  # fmt: skip
    extra_bufts: bool = declared(
        True, "Repack weights",  # noqa: FBT003
        "Copies the weights into an order that suits special instructions of the processor, such "
        "as AMX: faster, and takes memory for the copy. Take the tick away if the engine crashes "
        "while a model is loaded, or if memory is short.",
        option=Option(
            flag="no-extra-bufts{}",
            flag_help="do not repack {whose}'s weights for special instructions of the CPU: "
            "slower, for processors on which these crash, or to save memory",
        ),
    )  # fmt: skip
    kv_offload: bool = declared(
        True, "Cache on device",  # noqa: FBT003
        "Keys and values of a layer are kept on the device that has the layer, which is faster. "
        "Without the tick they are kept in this computer's memory, so that more layers find room "
        "on the device.",
        option=Option(
            flag="no-kv-offload{}",
            flag_help="keep {whose}'s cache in the main memory, and not on the devices that have "
            "its layers: slower, but more layers find room there",
        ),
    )  # fmt: skip
    swa_full: bool = declared(
        True, "Beyond windows",  # noqa: FBT003
        "Layers with a sliding window, as in Gemma and gpt-oss, keep the whole chat, so that any "
        "place of it can be gone back to at once, and the text is the same with any strategy. "
        "Without the tick they keep their window alone: less memory, but a change far back in a "
        "chat reads the whole prompt again.",
        option=Option(
            flag="no-swa-full{}",
            flag_help="keep no more than their window in {whose}'s layers with a sliding window: "
            "less memory, but a change far back in a chat reads the whole prompt again",
        ),
    )  # fmt: skip
    split_mode: str = declared(
        "", "Split", "How several devices share the model",
        choices=(("", "auto"), ("none", "one device"), ("layer", "layers"), ("row", "rows"),
                 ("tensor", "")),
        option=Option(
            help="how several devices share each model: not at all, by layers, or by rows of the "
            "weights"
        ),
    )  # fmt: skip
    tensor_split: tuple[float, ...] = declared(
        (), "Shares", "Each device's share, in proportions, such as 3, 1", unset="auto",
        option=Option(
            help="share of each model per device, in proportions, e.g. 3,1", metavar="A,B,…",
            read=read_shares,
        ),
    )  # fmt: skip
    main_gpu: int = declared(
        0, "Main device", "Number of the device that holds everything when one device does", 0, 63,
        option=Option(
            help="number of the device that holds everything with --split-mode none (default: 0)"
        ),
    )  # fmt: skip


MTP = "mtp"
"""The kind of head that a target's own file may hold: layers for multi-token prediction."""
DRAFT = "draft"
"""Id of the drafter with a draft model; with a head, the id is the head's kind."""
AUTO, OFF = "auto", "off"
"""Texts other than a file's path: the head in the target's file, if it has one; and none."""
_OTHER_KIND = re.compile(r"([a-z][a-z0-9-]+)=(.*)", re.DOTALL)


class DraftModel(Tagged, frozen=True):
    """A smaller model that proposes tokens.

    Attributes:
        params: Settings of its load.
        translating: Settings for a vocabulary other than the target's.
    """

    params: ModelParams
    translating: Translating = msgspec.field(default_factory=Translating)

    @property
    def file(self) -> str:
        """The path of its file."""
        return self.params.path

    def at(self, file: str) -> DraftModel:
        """Return the same draft model in another file."""
        return msgspec.structs.replace(self, params=replace(self.params, path=file))


class TargetHead(Tagged, frozen=True):
    """Layers that draft from their target's hidden states; loaded like the target.

    Attributes:
        kind: Id of its kind and of its drafter; see `engine.draft.heads`.
        file: Path of a separate file; empty for the target's file, if that has a head.
    """

    kind: str = MTP
    file: str = ""

    def at(self, file: str) -> TargetHead:
        """Return the same kind of head in another file."""
        return msgspec.structs.replace(self, file=file)


Drafting = DraftModel | TargetHead | None
OWN_HEAD = TargetHead()
"""The head in the target's file, if it has one: the default."""


def params_of(drafting: Drafting) -> ModelParams | None:
    """Return the load settings of a draft model, or None without one."""
    return drafting.params if isinstance(drafting, DraftModel) else None


def drafter_of(drafting: Drafting) -> str:
    """Return the id of the drafter that uses the loaded model or head; empty if there is none."""
    match drafting:
        case DraftModel():
            return DRAFT
        case TargetHead(kind=kind):
            return kind
        case None:
            return ""


def file_of(drafting: Drafting) -> str:
    """Return the path of the file besides the target's; empty if there is none."""
    return drafting.file if drafting is not None else ""


def with_params(drafting: Drafting, params: ModelParams | None) -> Drafting:
    """Return the same with other load settings of the draft model; unchanged without one."""
    if params is None or not isinstance(drafting, DraftModel):
        return drafting
    return msgspec.structs.replace(drafting, params=params)


def moved(drafting: Drafting, place: Callable[[str], str]) -> Drafting:
    """Return the same with another path of the file, if it has one.

    Args:
        drafting: The draft model or head, or None.
        place: Returns the new path for the old one.
    """
    return drafting.at(place(drafting.file)) if drafting is not None and drafting.file else drafting


def read_head(text: str) -> TargetHead | None:
    """Return the head that a text names, in the format of `settings.KeptPair.mtp`."""
    if text == OFF:
        return None
    if text == AUTO:
        return OWN_HEAD
    found = _OTHER_KIND.fullmatch(text)
    return TargetHead(*found.groups()) if found else TargetHead(MTP, text)


def written_head(drafting: Drafting) -> str:
    """Return the text for which `read_head` returns this head; with a draft model it has no effect.

    Args:
        drafting: The draft model or head, or None.
    """
    match drafting:
        case TargetHead(kind=kind, file=file) if file:
            return file if kind == MTP else f"{kind}={file}"
        case None:
            return OFF
    return AUTO
