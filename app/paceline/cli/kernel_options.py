"""The option that says whose kernels compute on the CPU, and the variable that does so, too."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from paceline.settings import KERNELS_VARIABLE, kernels_of_environment

if TYPE_CHECKING:
    import argparse

    from paceline.messages import KernelWish


def add_kernels(group: argparse._ActionsContainer) -> None:
    """Add the option."""
    group.add_argument(
        "--kernels",
        choices=("own", "stock"),
        help="whose kernels compute on the CPU: own, Paceline's, or the command fails where they "
        "cannot be used; stock, llama.cpp's (default: what the variable "
        f"{KERNELS_VARIABLE} says, else Paceline's as far as they are proved here)",
    )


def read_kernels(args: argparse.Namespace) -> KernelWish:
    """Return what the option says, else the variable.

    Raises:
        ValueOutOfRangeError: The variable has a value that it cannot have.
    """
    if args.kernels is not None:
        wish: KernelWish = args.kernels
        return wish
    return kernels_of_environment(os.environ)
