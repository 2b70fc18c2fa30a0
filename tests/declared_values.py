"""Values other than the default for each declared setting, and numbers that it refuses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from paceline.parameters import Parameter, parameters_of
from paceline.params import LogitBias, ModelParams, Prompting, ReplySettings, SamplingParams
from paceline.settings import (
    DraftPreset,
    KeptServer,
    ModelPrompting,
    ReplyPreset,
    SavedPair,
    Settings,
    WindowSettings,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

GIVEN: dict[type, dict[str, Any]] = {
    SamplingParams: {
        "temperature": 0.3, "top_k": 20, "top_p": 0.9, "min_p": 0.1, "repeat_penalty": 1.1,
        "presence_penalty": 0.5, "frequency_penalty": -0.5,
        "logit_bias": (LogitBias(3, -math.inf), LogitBias(4, 1.5)),
        "grammar": 'root ::= "ä"', "json_schema": '{"type": "null"}',
    },
    ReplySettings: {
        "max_tokens": 200, "seed": 2**53 - 1, "system_prompt": "Be kind.", "stop": ("\n\n",),
    },
    ModelParams: {
        "n_ctx": 8192, "n_threads": 4, "n_threads_batch": 6, "n_gpu_layers": 12, "device": "CUDA0",
        "flash_attn": "on", "kv_type_k": "q8_0", "kv_type_v": "q4_0", "n_cpu_moe": -1,
        "split_mode": "row", "tensor_split": (3.0, 1.0),
    },
}  # fmt: skip
"""Values that cannot be derived from the declaration, or are better chosen by hand."""


def _other(of: Parameter) -> Any:
    """Return a value that the window offers, next to the default."""
    match of.kind:
        case "bool":
            return not of.default
        case "choice":
            return next(value for value, words in of.choices if words and value != of.default)
        case "int" | "float":
            low, high = of.on_slider
            if of.can_be_auto or of.default is None:
                return type(low)(low + 1)
            up = of.default + 1 if of.kind == "int" else round((of.default + high) / 2, 1)
            return up if up <= high else type(up)(low)
    raise LookupError(f"give {of.name} another value in `GIVEN`")


def _others(cls: type) -> dict[str, Any]:
    return {
        name: GIVEN[cls][name] if name in GIVEN[cls] else _other(of)
        for name, of in parameters_of(cls).items()
    }


OTHER: dict[type, dict[str, Any]] = {cls: _others(cls) for cls in GIVEN}
OTHER_REPLY = ReplySettings(
    SamplingParams(**OTHER[SamplingParams] | {"grammar": ""}), **OTHER[ReplySettings]
)
"""All of them at once; a reply has one form."""
_GIVEN_SETTINGS = {
    "strategies": ("ngram-simple:n=3", "draft:n_max=5"),
    "window": WindowSettings(
        sidebar_visible=False,
        sidebar_width=260,
        panel_width=380,
        panel_tab="chat",
        open_sections=("why",),
        open_conversation="",
    ),
    "pairs": (
        SavedPair(
            ModelParams("/m/große.gguf", **OTHER[ModelParams]),
            ModelParams("/b.gguf"),
            "/m/texts.bin",
            exact=True,
            name="Mine",
        ),
        SavedPair(ModelParams("")),
    ),
    "model_folders": ("/models",),
    "open_folders": ("0a1b",),
    "reply_presets": (ReplyPreset("Calm", OTHER_REPLY), ReplyPreset("Usual")),
    "default_preset": "Calm",
    "draft_presets": (DraftPreset("Fast", "a.gguf", "b.gguf", "draft:n_max=9"),),
    "promptings": (ModelPrompting("a.gguf", Prompting("{{ messages }}", "off")),),
    "language": "en",
    "serving_key": "k-8_x",
    "serving_ignored": ("^date: ",),
    "rpc_servers": (KeptServer("192.168.1.5:50052", is_used=False),),
    "hub_proxy": "http://me:secret@proxy.example:3128",
    "download_folder": "/big/größe",
    "recent_commands": (("View", "Token colours"),),
}


def _other_setting(name: str, hint: Any) -> Any:
    default = getattr(Settings(), name)
    if hint is bool:
        return not default
    if hint is int:
        return default + 2
    if get_origin(hint) is Literal:
        return next(value for value in reversed(get_args(hint)) if value != default)
    raise LookupError(f"give {name} another value in `_GIVEN_SETTINGS`")


OTHER_SETTINGS = Settings(
    **{
        name: _GIVEN_SETTINGS[name] if name in _GIVEN_SETTINGS else _other_setting(name, hint)
        for name, hint in get_type_hints(Settings).items()
    }
)
"""Everything that is remembered, otherwise than by default."""
FIELDS = [(cls, name) for cls, values in OTHER.items() for name in values]
NUMBERS = [(cls, name) for cls, name in FIELDS if parameters_of(cls)[name].is_number]


def parameter(cls: type, name: str) -> Parameter:
    return parameters_of(cls)[name]


def reply_settings(cls: type, name: str, value: Any) -> ReplySettings:
    """Return settings of replies, of which one is another one."""
    if cls is SamplingParams:
        return ReplySettings(SamplingParams(**{name: value}))
    return ReplySettings(**{name: value})


def outside(of: Parameter, high: float) -> Iterator[Any]:
    """Yield numbers just beyond the range, except one that stands for automatic."""
    step = 1 if of.kind == "int" else 0.001
    yield of.low if of.excludes_low else of.low - (2 if of.can_be_auto else step)
    yield high + step
    if of.kind == "float":
        yield from (math.nan, math.inf, -math.inf)
