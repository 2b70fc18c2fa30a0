#!/usr/bin/env python3
"""Make the built-in demo pair: ``python packaging/demo_pair/make_demo_pair.py [--quick | --gpu]``.

Runs the recipe's steps, each once: what is done and up to date is not done again, and training
that was interrupted goes on. README.md beside this file describes the steps and what they need.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from demo_pair.corpus.sources import INSTALLED, NoSourcesError
from demo_pair.learning.sizes import PRESETS, Preset, with_minutes
from demo_pair.steps import NotMadeError, run_steps

STEPS = ("chats", "tokens", "target", "draft", "files", "evaluation")
CHECKOUT = Path(__file__).resolve().parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the pair; returns the exit code."""
    options = parse(arguments)
    try:
        return make(options)
    except ModuleNotFoundError as error:
        requirements = Path(__file__).with_name("requirements.txt")
        print(f"{error}. Install what {requirements} names.", file=sys.stderr)
    except (NoSourcesError, NotMadeError) as error:
        print(error, file=sys.stderr)
    except KeyboardInterrupt:
        print("Interrupted. The same command goes on from here.", file=sys.stderr)
        return 130
    return 1


def make(options: argparse.Namespace) -> int:
    """Do the steps that are asked for."""
    # Here, so that the help can be shown where nothing is installed.
    import torch  # noqa: PLC0415

    from demo_pair.learning.memory import keep_memory  # noqa: PLC0415
    from demo_pair.learning.training import PausedError  # noqa: PLC0415
    from demo_pair.recipe import Options, Recipe  # noqa: PLC0415

    keep_memory()
    preset = chosen(options)
    folder = options.folder or CHECKOUT / "build" / "demo-pair" / preset.name
    if options.threads:
        torch.set_num_threads(options.threads)
    pause_at_s = time.monotonic() + 60 * options.pause if options.pause else math.inf
    aside = Options(options.paceline, not options.no_blocks, pause_at_s)
    recipe = Recipe(preset, options.sources, folder, aside, tell)
    if options.take:
        recipe.take(options.take)
    try:
        run_steps(recipe.steps(), folder, options.only, tell)
    except PausedError:
        tell("Paused. The same command goes on from here.")
        return 0
    tell(f"Everything is in {folder}.")
    return 0


def chosen(options: argparse.Namespace) -> Preset:
    """Return the preset with what the options change in it."""
    preset = PRESETS["quick" if options.quick else "gpu" if options.gpu else "cpu"]
    if options.minutes:
        preset = with_minutes(preset, options.minutes)
    if options.batch:
        target = replace(preset.target, batch=options.batch)
        preset = replace(preset, target=target, draft=replace(preset.draft, batch=options.batch))
    return preset


def tell(line: str) -> None:
    """Print a line at once, also where a file takes it."""
    print(line, flush=True)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0] + ".")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="tiny models, to try every step")
    size.add_argument("--gpu", action="store_true", help="58 and 3.5 million weights, for a GPU")
    parser.add_argument(
        "--sources", type=Path, default=INSTALLED, help="folder of the documentation's sources"
    )
    parser.add_argument("--folder", type=Path, help="where everything is kept and goes on from")
    parser.add_argument("--minutes", type=float, help="for both trainings together")
    parser.add_argument(
        "--batch", type=int, help="rows of the greatest length per step, instead of the preset's"
    )
    parser.add_argument(
        "--only", type=step_names, metavar="STEP,…", help="only these steps, e.g. target,draft"
    )
    parser.add_argument("--pause", type=float, metavar="MINUTES", help="stop training after these")
    parser.add_argument("--take", type=Path, metavar="FOLDER", help="weights trained elsewhere")
    parser.add_argument(
        "--no-blocks", action="store_true", help="on a GPU, mask attention place by place"
    )
    parser.add_argument("--threads", type=int, help="of the processor, for training")
    parser.add_argument(
        "--paceline",
        type=Path,
        default=CHECKOUT / ".venv" / "bin" / "python",
        help="a Python that has Paceline, for the evaluation",
    )
    return parser.parse_args(arguments)


def step_names(text: str) -> list[str]:
    """Return the steps that a list names.

    Raises:
        ArgumentTypeError: There is no such step.
    """
    names = text.split(",")
    if unknown := sorted(set(names) - set(STEPS)):
        known = ", ".join(STEPS)
        raise argparse.ArgumentTypeError(f"there is no step {unknown[0]!r}; there are {known}")
    return names


if __name__ == "__main__":
    sys.exit(main())
