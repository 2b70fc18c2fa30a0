"""The cases on Vulkan's software driver: each value once, then values at random."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from device_trials.outcomes import Case

ALL = ("--gpu-layers", "99")
BOTH = (*ALL, "--gpu-layers-draft", "99")
Q8 = ("--flash-attn", "on", "--kv-type-k", "q8_0", "--kv-type-v", "q8_0")
Q4 = ("--flash-attn", "on", "--kv-type-k", "q4_0", "--kv-type-v", "q4_0")
OFF = ("--strategy", "off")
DRAFT = ("--strategy", "draft:n_max=4")
SHORT = ("all layers", "4 layers", "row split", "a hybrid (tiny-qwen35)", "two devices, all layers")
"""Names of the cases of the short form."""
TINY = ("tiny-lfm2", "tiny-qwen35", "tiny-nemotron-h", "tiny-mamba")
FindModel = Callable[[str], Path]


def single_cases(model: FindModel) -> list[Case]:
    """Return each value once, the others as usual: greedy, the demo pair, all layers.

    Args:
        model: Returns the file of one of the tests' models.
    """

    def of(name: str) -> tuple[str, ...]:
        return ("--target", str(model(name)))

    head = (*of("tiny-mtp-true"), "--strategy", "mtp")
    found = [
        Case("0 layers", OFF, ("--gpu-layers", "0")),
        Case("4 layers", OFF, ("--gpu-layers", "4")),
        Case("all layers", OFF, ALL),
        Case("as many as fit", OFF),
        Case("flash attention on", (*OFF, "--flash-attn", "on"), ALL),
        Case("flash attention off", (*OFF, "--flash-attn", "off"), ALL),
        Case("q8_0 cache", (*OFF, *Q8), ALL),
        Case("q4_0 cache", (*OFF, *Q4), ALL),
        Case("cache off the device", OFF, (*ALL, "--no-kv-offload")),
        Case("a hybrid's off the device", (*of("tiny-qwen35"), *OFF), (*ALL, "--no-kv-offload")),
        Case("exact mode", (*DRAFT, "--exact"), BOTH),
        Case("draft model", DRAFT, BOTH),
        Case("draft model on the processor", DRAFT, (*ALL, "--gpu-layers-draft", "0")),
        Case("target on the processor", DRAFT, ("--gpu-layers", "0", "--gpu-layers-draft", "99")),
        Case("suffix", ("--strategy", "suffix"), ALL),
        Case("Auto", ("--strategy", "auto"), BOTH),
        Case("with chance", (*DRAFT, "--temperature", "0.8"), BOTH),
        Case("named device", OFF, (*ALL, "--device", "Vulkan0")),
        Case("a device that is not there", OFF, (*ALL, "--device", "Vulkan7")),
        Case("row split", OFF, (*ALL, "--split-mode", "row")),
        Case("main GPU that is not there", OFF, (*ALL, "--split-mode", "none", "--main-gpu", "3")),
        *(Case(f"a hybrid ({name})", (*of(name), *OFF), ALL) for name in TINY),
        Case("a hybrid with drafts", (*of("tiny-qwen35"), "--strategy", "suffix"), ALL),
        Case("sliding windows", (*of("tiny-swa"), *OFF), ALL),
        Case("windows alone", (*of("tiny-swa"), *OFF, "--no-swa-full"), ALL),
        Case("experts", (*of("tiny-moe"), *OFF), ALL),
        Case("experts on the processor", (*of("tiny-moe"), *OFF), (*ALL, "--cpu-moe")),
        Case("MTP head", head, ALL),
        Case("MTP head, 1 layer", head, ("--gpu-layers", "1")),
    ]
    for words, where in (
        ("all layers", ALL),
        ("4 layers", ("--gpu-layers", "4")),
        ("split 3,1", (*ALL, "--tensor-split", "3,1")),
        ("no split, the second", (*ALL, "--split-mode", "none", "--main-gpu", "1")),
        ("the second by name", (*ALL, "--device", "Vulkan1")),
        ("row split", (*ALL, "--split-mode", "row")),
    ):
        found.append(Case(f"two devices, {words}", OFF, where, 2))
    apart = (*BOTH, "--device", "Vulkan0", "--device-draft", "Vulkan1")
    found.append(Case("two devices, draft model on the other", DRAFT, apart, 2))
    return found


def random_cases(model: FindModel, n: int, seed: int = 1) -> list[Case]:
    """Return so many combinations of values, the same ones for each seed."""
    draw = random.Random(seed)
    return [_drawn(draw, model, f"random {i}") for i in range(n)]


def _drawn(draw: random.Random, model: FindModel, name: str) -> Case:
    target = draw.choice(("", "", "", *TINY, "tiny-swa", "tiny-moe", "tiny-mtp-true"))
    n_devices = draw.choice((1, 1, 2))
    strategies = ["off", "suffix", "auto"]
    strategies += {"": ["draft:n_max=4", "suffix+draft"], "tiny-mtp-true": ["mtp"]}.get(target, [])
    what = ["--strategy", draw.choice(strategies)]
    if target:
        what += ["--target", str(model(target))]
    what += draw.choice(((), (), Q8, Q4, ("--flash-attn", "off"), ("--kv-type-v", "q8_0")))
    what += draw.choice(((), (), ("--exact",), ("--temperature", "0.8")))
    what += draw.choice(((), (), ("--ctx", "256"), ("--no-swa-full",)))
    where = ["--gpu-layers", draw.choice(("0", "1", "3", "99", "auto"))]
    where += draw.choice(((), (), ("--no-kv-offload",)))
    where += draw.choice(((), ("--device", draw.choice(("Vulkan0", "Vulkan1", "CPU")))))
    where += draw.choice(((), (), ("--split-mode", draw.choice(("none", "layer", "row")))))
    where += draw.choice(((), (), ("--tensor-split", draw.choice(("3,1", "1,0", "0,1", "1,1,1")))))
    where += draw.choice(((), (), ("--main-gpu", draw.choice(("0", "1", "2")))))
    if not target:
        where += draw.choice(((), ("--gpu-layers-draft", draw.choice(("0", "2", "99")))))
        where += draw.choice(((), (), ("--device-draft", draw.choice(("Vulkan0", "Vulkan1")))))
    return Case(name, tuple(what), tuple(where), n_devices)
