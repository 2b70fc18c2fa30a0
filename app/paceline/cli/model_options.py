"""The options that choose, place and load the two models, and the `ModelParams` made from them.

Experts are placed, and weights repacked, per model. How GPUs share the work is given once and holds
for both models, as in llama.cpp, whose draft model takes over the target's split.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from paceline.catalog.hub.values import is_reference, parse_reference
from paceline.cli.usage import Parser, UsageError, layers, whole_number
from paceline.engine.model.memory_hints import SLOW_CACHE
from paceline.errors import UserError
from paceline.messages import KernelWish, LoadPair, ModelParams
from paceline.paths import Paths, demo_pair
from paceline.settings import KERNELS_VARIABLE, kernels_of_environment

LOAD_ID = "load"
NO_FILE = ("auto", "off")
"""Values of --mtp that name no file."""
_SEE_THERE = "What a quantised one costs, --kv-type-k says."
_KV_TYPES = ("f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl")
SPLIT_MODES = ("none", "layer", "row")
ALL_LAYERS = -1
_MOST_THREADS = 512  # GGML_MAX_N_THREADS
_FIELDS = {
    "n_ctx": "ctx{}",
    "n_threads": "threads{}",
    "n_threads_batch": "threads_batch{}",
    "n_gpu_layers": "gpu_layers{}",
    "device": "device{}",
    "n_cpu_moe": "n_cpu_moe{}",
    "extra_bufts": "extra_bufts{}",
    "swa_full": "swa_full{}",
    "kv_type_k": "kv_type{}_k",
    "kv_type_v": "kv_type{}_v",
}
"""Fields of `ModelParams` and their options; the braces take nothing or "_draft"."""
_SHARED = ("split_mode", "tensor_split", "main_gpu")
"""Those that hold for both models."""


def add_options(parser: Parser) -> None:
    """Add the groups "models" and "hardware"."""
    models = parser.add_argument_group("models")
    models.add_argument(
        "--target",
        metavar="FILE",
        help="GGUF file of the model that decides the text, or hf:OWNER/REPO:FILE or its address "
        "on the Hub, which is downloaded if it is not here (default: the built-in demo pair)",
    )
    models.add_argument(
        "--draft",
        metavar="FILE",
        help="GGUF file of the small model that drafts, or hf:OWNER/REPO:FILE; when only --target "
        "is given there is no draft model",
    )
    add_mtp(models)
    hardware = parser.add_argument_group("hardware")
    add_hardware(hardware)
    add_kernels(hardware)


def add_mtp(group: argparse._ActionsContainer) -> None:
    """Add the option that says which MTP head drafts."""
    group.add_argument(
        "--mtp",
        metavar="auto|off|FILE",
        default="auto",
        help="MTP head that drafts in place of a draft model: auto, the one inside the target's "
        "file where it has one and no draft model is given; off, none; or the file with the head, "
        "or hf:OWNER/REPO:FILE (default: %(default)s)",
    )


def add_hardware(group: argparse._ArgumentGroup) -> None:
    """Add the options that say how the two models are loaded."""
    threads = whole_number(1, _MOST_THREADS)
    for suffix, whose in (("", "target"), ("-draft", "draft model")):
        group.add_argument(
            f"--ctx{suffix}",
            metavar="N",
            type=whole_number(1),
            help=f"context of the {whose} in tokens (default: 4096, or the model's own if smaller)",
        )
        group.add_argument(
            f"--threads{suffix}",
            metavar="N",
            type=threads,
            help=f"threads of the {whose} for single tokens (default: physical cores - 1, or "
            "fewer where that was measured to be faster)",
        )
        group.add_argument(
            f"--threads-batch{suffix}",
            metavar="N",
            type=threads,
            help=f"threads of the {whose} for several tokens at once (default: --threads{suffix})",
        )
        group.add_argument(
            f"--gpu-layers{suffix}",
            metavar="N|auto",
            type=layers,
            help=f"layers of the {whose} kept on the GPU (default: auto, as many as find room, the "
            "draft model's first)",
        )
        group.add_argument(
            f"--device{suffix}",
            metavar="NAME",
            help=f"device for the {whose}, as `paceline doctor` names it",
        )
    group.add_argument(
        "--flash-attn", choices=("on", "off", "auto"), default="auto", help="default: auto"
    )
    for suffix, whose in (("", "target"), ("-draft", "draft model")):
        for cache in "kv":
            group.add_argument(
                f"--kv-type{suffix}-{cache}",
                choices=_KV_TYPES,
                metavar="TYPE",
                help=f"type of the {whose}'s {cache.upper()} cache: {', '.join(_KV_TYPES)} "
                f"(default: f16). {SLOW_CACHE if not suffix and cache == 'k' else _SEE_THERE}",
            )
    add_placement(group)


def add_placement(group: argparse._ArgumentGroup) -> None:
    """Add the options; those that are not given stay None."""
    for suffix, whose in (("", "target"), ("-draft", "draft model")):
        experts = group.add_mutually_exclusive_group()
        dest = f"n_cpu_moe{suffix.replace('-', '_')}"
        experts.add_argument(
            f"--cpu-moe{suffix}",
            dest=dest,
            action="store_const",
            const=ALL_LAYERS,
            help=f"keep the {whose}'s mixture-of-experts weights in the CPU's memory",
        )
        experts.add_argument(
            f"--n-cpu-moe{suffix}",
            dest=dest,
            metavar="N",
            type=whole_number(0),
            help="keep those of the first N layers there",
        )
        group.add_argument(
            f"--no-extra-bufts{suffix}",
            dest=f"extra_bufts{suffix.replace('-', '_')}",
            action="store_const",
            const=False,
            help=f"do not repack the {whose}'s weights for special instructions of the CPU: "
            "slower, for processors on which these crash, or to save memory",
        )
        group.add_argument(
            f"--no-swa-full{suffix}",
            dest=f"swa_full{suffix.replace('-', '_')}",
            action="store_const",
            const=False,
            help=f"keep no more than their window in the {whose}'s layers with a sliding window: "
            "less memory, but a change far back in a chat reads the whole prompt again",
        )
    group.add_argument(
        "--split-mode",
        choices=SPLIT_MODES,
        help="how several GPUs share each model: not at all, by layers, or by rows of the weights",
    )
    group.add_argument(
        "--tensor-split",
        metavar="A,B,…",
        type=_proportions,
        help="share of each model per GPU, in proportions, e.g. 3,1",
    )
    group.add_argument(
        "--main-gpu",
        metavar="N",
        type=whole_number(0),
        help="GPU that holds everything with --split-mode none (default: 0)",
    )


def add_kernels(group: argparse._ActionsContainer) -> None:
    """Add the option that chooses the kernels of the CPU."""
    group.add_argument(
        "--kernels",
        choices=("own", "stock"),
        help="whose kernels compute on the CPU: own, Paceline's, or the command fails where they "
        "cannot be used; stock, llama.cpp's (default: what the variable "
        f"{KERNELS_VARIABLE} says, else Paceline's as far as they are proved here)",
    )


def add_host(group: argparse._ArgumentGroup) -> None:
    """Add the option that says where the engine runs."""
    group.add_argument(
        "--host",
        choices=("inline", "process"),
        default="inline",
        help="where the engine runs: inline, within this program, or process, in a process of its "
        "own, so that a crash of the engine is told instead of ending the program "
        "(default: %(default)s)",
    )


def _proportions(text: str) -> tuple[float, ...]:
    try:
        shares = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r:.60} is not a list of numbers with commas between them"
        ) from None
    if not all(0 <= share < math.inf for share in shares) or not any(shares):
        raise argparse.ArgumentTypeError(
            f"{text!r:.60} gives no shares: numbers from 0, at least one above 0"
        )
    return shares


# ------------------------------------------------------------------------------------------ reading


def read_pair(args: argparse.Namespace, folders: Paths) -> tuple[LoadPair, tuple[str, ...]]:
    """Return the load that the options ask for, and sentences about options without an effect.

    Raises:
        UsageError: A name that cannot be a file, or two drafters.
        ValueOutOfRangeError: A variable with a value that it cannot have.
        UserError: The demo pair is not there.
    """
    kernels = read_kernels(args)
    for option, name in (("--target", args.target), ("--draft", args.draft)):
        check_name(option, name)
    target, draft, mtp = args.target, args.draft, read_mtp(args)
    if target is None:
        demo_target, demo_draft = demo_pair()
        target = str(demo_target)
        draft = str(demo_draft) if draft is None and mtp in NO_FILE else draft
    load = LoadPair(
        LOAD_ID,
        read_params(target, args, ""),
        None if draft is None else read_params(draft, args, "_draft"),
        cache_dir=str(folders.cache_dir),
        kernels=kernels,
        mtp=mtp,
    )
    return load, () if draft is not None else tuple(_notes_without_draft(args))


def read_mtp(args: argparse.Namespace) -> str:
    """Return which MTP head the options ask for, as `LoadPair.mtp`.

    Raises:
        UsageError: A name that cannot be a file, or a draft model beside a head.
    """
    mtp: str = args.mtp
    if mtp in NO_FILE:
        return mtp
    check_name("--mtp", mtp)
    if args.draft is not None:
        raise UsageError(
            "usage",
            "A draft model and the file of an MTP head are given, and one of them can draft.",
            "Leave one of them out.",
        )
    path = _absolute(mtp)
    is_inside = args.target is not None and path == _absolute(args.target)
    return "auto" if is_inside else path


def settle(
    load: LoadPair,
    args: argparse.Namespace,
    strategies: Iterable[str],
    has_head: Callable[[], bool],
) -> LoadPair:
    """Return the load without a drafter that no strategy uses, unless it was asked for.

    Args:
        load: From `read_pair`.
        args: The options.
        strategies: What is to draft.
        has_head: Asked where a strategy needs one; see `loading.head_finder`.

    Raises:
        UsageError: A strategy needs a drafter that is not there.
    """
    from paceline.engine.draft.strategy import parse_strategy

    is_used = False
    for strategy in strategies:
        parsed = parse_strategy(strategy)
        is_used = is_used or parsed.uses_model
        if parsed.needs == "draft" and load.draft is None:
            raise UsageError(
                "no-draft-model",
                f"The strategy {strategy} needs a draft model.",
                "Give one by --draft FILE, or choose another strategy.",
            )
        if parsed.needs == "mtp" and not has_head():
            raise UsageError(
                "no-mtp-head",
                f"The strategy {strategy} needs an MTP head.",
                "Give a target that has one inside, or the file of its head by --mtp FILE, and no "
                "draft model; or choose another strategy.",
            )
    if is_used:
        return load
    draft = None if args.draft is None else load.draft
    return replace(load, draft=draft, mtp="off" if load.mtp == "auto" else load.mtp)


def check_name(option: str, name: str | None) -> None:
    """Refuse what can be neither a path nor a reference to the Hub.

    Raises:
        UsageError: It is neither.
    """
    if name is None:
        return
    if not name.strip():
        raise UsageError("usage", f"{option} is empty.", "Give the path of a GGUF file.")
    if is_reference(name):
        try:
            parse_reference(name)
        except UserError as error:
            raise UsageError(error.code, error.message, error.hint) from None


def read_params(path: str, args: argparse.Namespace, suffix: str) -> ModelParams:
    """Return how to load a model.

    Args:
        path: A path, or a reference to the Hub.
        args: With the options of `add_hardware`.
        suffix: Whose options count: empty for the target's, or ``_draft``.
    """
    given = {
        field: value
        for field, option in _FIELDS.items()
        if (value := getattr(args, option.format(suffix))) is not None
    }
    return ModelParams(
        path=_absolute(path),
        flash_attn=args.flash_attn,
        **given,
        **{name: value for name in _SHARED if (value := getattr(args, name)) is not None},
    )


def _absolute(path: str) -> str:
    return str(parse_reference(path) if is_reference(path) else Path(path).absolute())


def read_kernels(args: argparse.Namespace) -> KernelWish:
    """Return the kernels that the option asks for, or without it the variable.

    Raises:
        ValueOutOfRangeError: The variable has a value that it cannot have.
    """
    if args.kernels is not None:
        wish: KernelWish = args.kernels
        return wish
    return kernels_of_environment(os.environ)


def _notes_without_draft(args: argparse.Namespace) -> list[str]:
    options = [option.format("_draft") for option in _FIELDS.values()]
    given = {option: getattr(args, option) for option in options}
    written = {"extra_bufts_draft": "no_extra_bufts_draft"}
    if given["n_cpu_moe_draft"] == ALL_LAYERS:
        written["n_cpu_moe_draft"] = "cpu_moe_draft"
    return [
        f"--{written.get(option, option).replace('_', '-')} has no effect without a draft model."
        for option, value in given.items()
        if value is not None
    ]
