"""What a user can set about models and sampling, as frozen values of builtins.

`messages` carries these; nothing else belongs here, so that a setting has one place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

KernelWish = Literal["auto", "own", "stock"]
"""Whose kernels compute on the CPU: "own", Paceline's, or the load fails; "stock", llama.cpp's;
"auto", Paceline's as far as they are proved here, else llama.cpp's."""


@dataclass(frozen=True, slots=True)
class LogitBias:
    """A number added to one token's logit at every position; -inf forbids the token."""

    token: int
    bias: float


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How the next token is drawn from the target's distribution.

    Order: logit bias, penalties, grammar, top-k, top-p, min-p, temperature, noise. Temperature 0
    is argmax; top_k 0, top_p 1 and min_p 0 switch the truncation off. The penalties look at the
    last 64 tokens of prompt and reply, as llama.cpp's do by default.

    Attributes:
        temperature: 0..100.
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

    temperature: float = 0.7
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: tuple[LogitBias, ...] = ()
    grammar: str = ""
    json_schema: str = ""


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
            is decided beforehand, by `catalog.fitting`.
        device: Name of a device from `EngineInfo.devices`; empty takes llama.cpp's choice.
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
