#!/usr/bin/env python3
"""Try llama.cpp's devices: whether each setting gives a reply or a refusal, and what differs.

    python packaging/devices.py vulkan [--short]    on a software driver, one and two devices
    python packaging/devices.py rpc                 by one to three RPC servers on loopback
    python3 packaging/devices.py gpu [--backend B]  on a machine with a GPU: build, doctor, speed

`vulkan` brings Mesa's software driver and a build of llama.cpp for it into the cache, without root,
on Debian 12: 33 MB to fetch, and some minutes to compile. Shaders are compiled when they are first
used, which takes minutes for each kind of model and cache, and are kept: the first run takes more
than an hour of a core, later ones some seconds for each case. Each case is a line: "equal", or the
first token that differs from the processor's and by how much logits differ, or the words of a
refusal. A crash, a hang or an error without a word is a failure; they are named at the end, and the
exit code is 1. `--only random` runs the combinations alone.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from backends import NAMES
from bootstrap import ROOT, BootstrapError
from device_trials import gpu
from device_trials.software_gpu import NoSoftwareGpuError, SoftwareGpu, tell

N_RANDOM = 30


def cache() -> Path:
    """Return the folder in which driver, build and shaders are kept."""
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home, "paceline", "devices").expanduser()


def model(name: str) -> Path:
    """Return the file of one of the tests' models, made where it is missing."""
    tests = str(ROOT / "tests")
    if tests not in sys.path:
        sys.path.append(tests)
    import make_pairs  # noqa: PLC0415 - it lies with the tests

    return make_pairs.path(name)


def on_vulkan(options: argparse.Namespace) -> list[str]:
    """Run the matrix on the software driver; returns the names of what failed."""
    # NumPy is not there yet where `gpu` begins; so below, too.
    from device_trials.matrix import Matrix, Place  # noqa: PLC0415
    from device_trials.vulkan import (  # noqa: PLC0415
        BOTH,
        DRAFT,
        SHORT,
        random_cases,
        single_cases,
    )

    driver = SoftwareGpu(options.cache, options.lib)
    driver.bring()
    matrix = Matrix(Place(driver.variables(0)), lambda n: Place(driver.variables(n)), show)
    tell("Compiling shaders that are not kept yet; the first time this takes ten minutes")
    matrix.warm(*DRAFT, *BOTH)
    singles, drawn = single_cases(model), random_cases(model, options.random)
    if options.short:
        singles, drawn = [case for case in singles if case.name in SHORT], []
    matrix.run([case for case in singles if options.only in case.name], with_rows=True)
    matrix.run([case for case in drawn if options.only in case.name], with_rows=False)
    return matrix.failed


def by_rpc(options: argparse.Namespace) -> list[str]:
    """Run the matrix by servers on loopback; returns the names of what failed."""
    from device_trials import rpc  # noqa: PLC0415
    from device_trials.matrix import Matrix  # noqa: PLC0415

    with rpc.places() as there:
        matrix = Matrix(there(0), there, show)
        matrix.run([case for case in rpc.cases(model) if options.only in case.name], with_rows=True)
    for line in rpc.prices(matrix.seconds):
        show(line)
    return matrix.failed


def on_gpu(options: argparse.Namespace) -> list[str]:
    """Run what is to be measured on a GPU; returns the names of what failed."""
    return gpu.run(options.backend, options.out.absolute(), show)


def show(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trials that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=TRIALS)
    parser.add_argument("--cache", type=Path, default=cache(), help="driver, build and shaders")
    parser.add_argument("--lib", type=Path, help="libraries with Vulkan that are compiled already")
    parser.add_argument("--short", action="store_true", help="a few cases alone")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name has this")
    parser.add_argument("--backend", choices=("auto", *NAMES), default="auto", help="of gpu")
    parser.add_argument("--out", type=Path, default=cache() / "gpu", help="of gpu: its files")
    parser.add_argument("--random", type=int, default=N_RANDOM, help="combinations (default 30)")
    options = parser.parse_args(arguments)
    try:
        failed = TRIALS[options.what](options)
    except (BootstrapError, NoSoftwareGpuError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"FAILED: {', '.join(failed)}" if failed else "No case failed.")
    return 1 if failed else 0


TRIALS = {"vulkan": on_vulkan, "rpc": by_rpc, "gpu": on_gpu}

if __name__ == "__main__":
    sys.exit(main())
