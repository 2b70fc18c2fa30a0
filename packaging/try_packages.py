#!/usr/bin/env python3
"""Try whole packages under hard conditions: does everything work, or say in one sentence why not?

    python packaging/try_packages.py clean --packages DIR      in roots of Debian 12 and 13
    python packaging/try_packages.py old --packages DIR        on emulated processors without AVX2
    python packaging/try_packages.py kernels --packages DIR    own kernels beside a local build's
    python packaging/try_packages.py homes --packages DIR      kills, full disks, odd homes
    python packaging/try_packages.py versions --packages DIR   two versions by turns on one home
    python packaging/try_packages.py opened --packages DIR     what a browser is started with
    python packaging/try_packages.py wheel                     a wheel in a new environment
    python packaging/try_packages.py all --packages DIR        all but the wheel

DIR has what `packaging/build.py` makes. Each case is a line: what was tried, seconds, a figure, and
"pass" or what came instead; the exit code is 1 where a case failed. They run on Debian, as root,
since they mount, change users and enter roots; `kernels` asks for the checkout's environment, `old`
for qemu-user-static, and windows for Xvfb and xdotool. What is missing is said in a sentence.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from package_trials import clean, homes, kernels, old, opened, versions, wheel
from package_trials.packages import Packages
from package_trials.report import CannotTryError, Report

TRIALS: dict[str, Callable[[Packages, Report, argparse.Namespace], None]] = {
    "clean": lambda packages, report, options: clean.run(packages, report, options.roots),
    "old": lambda packages, report, options: old.run(packages, report, options.roots),
    "kernels": lambda packages, report, _options: kernels.run(packages, report),
    "homes": lambda packages, report, options: homes.run(packages, report, options.kills),
    "versions": lambda packages, report, _options: versions.run(packages, report),
    "opened": lambda packages, report, _options: opened.run(packages, report),
}


def show(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trials that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=(*TRIALS, "wheel", "all"))
    parser.add_argument("--packages", type=Path, default=Path("dist"), metavar="DIR")
    roots = Path("/var/tmp/paceline-roots")
    parser.add_argument("--roots", type=Path, default=roots, help="clean roots, which are kept")
    parser.add_argument("--kills", type=int, default=30, help="of homes; default 30")
    options = parser.parse_args(arguments)
    if options.what == "wheel":
        return wheel.main([])
    trials = TRIALS if options.what == "all" else {options.what: TRIALS[options.what]}
    failed: list[str] = []
    for name, trial in trials.items():
        report = Report(name, show)
        try:
            trial(Packages(options.packages), report, options)
        except CannotTryError as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed.append(name)
        failed += report.failed
    show(f"FAILED: {'; '.join(failed)}" if failed else "No case failed.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
