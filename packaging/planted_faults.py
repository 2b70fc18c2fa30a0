#!/usr/bin/env python3
"""Plant faults in a copy of the tree, one at a time, and see whether the usual tests catch them.

Each module of `planted` has the faults of a class: some that tests had missed in an audit, and some
like them in what was built since. A fault that was caught once stays there.

    python3 packaging/planted_faults.py [WORD...]    a class, or faults whose name contains a word

It takes the Python that runs it, so start it with the environment's. For each fault it runs the few
test files of the short run that should notice it, and prints which test did. The exit code is 1
when a fault survives, and 2 when a place to plant one in is gone (then the fault needs a new place)
or the tests fail without a fault.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Literal

from planted import (
    auto,
    calls,
    decoding,
    devices,
    sameness,
    sampling,
    server,
    states,
    storage,
    window,
)
from planted.fault import Fault
from planted.tree import Copy

CLASSES = {
    "auto": auto.FAULTS,
    "calls": calls.FAULTS,
    "decoding": decoding.FAULTS,
    "devices": devices.FAULTS,
    "sameness": sameness.FAULTS,
    "sampling": sampling.FAULTS,
    "server": server.FAULTS,
    "states": states.FAULTS,
    "storage": storage.FAULTS,
    "window": window.FAULTS,
}

Outcome = Literal["caught", "survived", "broken"]


def chosen(words: list[str]) -> dict[str, list[Fault]]:
    """Return the faults of the classes that are named, and those whose names contain a word."""
    found = {
        name: [f for f in faults if not words or name in words or any(w in f.name for w in words)]
        for name, faults in CLASSES.items()
    }
    return {name: faults for name, faults in found.items() if faults}


def outcome(copy: Copy, without: Callable[[tuple[str, ...]], list[str]], fault: Fault) -> Outcome:
    """Plant a fault, run its tests, take it back, and print what came of it.

    Args:
        copy: The tree to plant it in.
        without: Returns which of some tests fail in the tree as it is.
        fault: The fault.
    """
    if failures := without(fault.tests):
        print(f"{fault.name}: tests fail without it: {', '.join(failures)}", flush=True)
        return "broken"
    try:
        before = copy.plant(fault)
    except LookupError as error:
        print(f"{fault.name}: cannot be planted: {error}", flush=True)
        return "broken"
    noticed = copy.failures(fault.tests)
    copy.restore(before)
    print(f"{fault.name}: {f'caught by {noticed[0]}' if noticed else 'SURVIVED'}", flush=True)
    return "caught" if noticed else "survived"


def main() -> int:
    """Plant, run, print; see the top."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="WORD")
    classes = chosen(parser.parse_args().words)
    with tempfile.TemporaryDirectory(prefix="planted-") as scratch:
        copy = Copy(Path(scratch))
        without = cache(copy.failures)  # many faults share their tests
        outcomes = {
            name: [outcome(copy, without, fault) for fault in faults]
            for name, faults in classes.items()
        }
    for name, found in outcomes.items():
        print(f"{name}: {found.count('caught')} of {len(found)} were caught")
    found = list(chain.from_iterable(outcomes.values()))
    return 2 if "broken" in found else int("survived" in found)


if __name__ == "__main__":
    sys.exit(main())
