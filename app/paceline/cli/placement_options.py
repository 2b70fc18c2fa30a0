"""The options for models that are spread: experts kept on the CPU, and several GPUs.

Experts are placed, and weights repacked, per model. How GPUs share the work is said once and holds
for both models, as in llama.cpp, whose draft model takes over the target's split.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

from paceline.cli.usage import whole_number

ALL_LAYERS = -1
SPLIT_MODES = ("none", "layer", "row")


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


def read_placement(args: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of `ModelParams` that hold for both models, as far as they are given."""
    fields = ("split_mode", "tensor_split", "main_gpu")
    return {name: value for name in fields if (value := getattr(args, name)) is not None}


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
