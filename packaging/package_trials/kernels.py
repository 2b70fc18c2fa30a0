"""Own kernels of the package beside those of a local build: decodes of several tokens, and texts.

What is compared is one build for every processor with one that was compiled for this machine: the
checkout's environment. Both are driven by the same script, two processes at a time whose decodes
take turns, since a frozen program has no Python to run it; `calibrate` and `chat` of the whole
program then confirm it. Ratios are speeds, package over local build: 0.95 is 5 % slower.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from package_trials.packages import Packages, Unpacked
from package_trials.programs import Program, Reply, environment
from package_trials.report import CannotTryError, Report, TrialError, expect

PACKAGING = Path(__file__).resolve().parent.parent
WIDTHS = (1, 2, 4, 8)
KINDS = ("q8_0", "q4_0")
N_PAIRS, N_TURNS, N_DECODES = 10, 4, 10
"""Starts of both, turns in each, and decodes of a width in each turn."""
LEAST = 0.95
STRATEGIES = ("off", "suffix", "draft:n_max=4")


def run(packages: Packages, report: Report) -> None:
    """Compare speeds and texts.

    Raises:
        CannotTryError: The checkout's environment, or the models, are not there.
    """
    models = {kind: _model(kind) for kind in KINDS}
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch, "home")
        unpacked = packages.unpacked(Path(scratch))
        here = _here(home)
        for kind, model in models.items():
            with report.case(f"SmolLM2-135M {kind}, widths {WIDTHS}") as case:
                case.figure, slowest = compare(model, (here, unpacked), N_PAIRS)
                expect(slowest >= LEAST, f"a speed of {slowest:.3f} of the local build's")
        program = Program((str(unpacked.program),), environment(home))
        local = Program((sys.executable, "-m", "paceline"), environment(home, PYTHONPATH=_path()))
        with report.case("`calibrate` of the whole programs, by turns") as case:
            case.figure = calibrated(program, local, models["q8_0"])
        pair = ("--target", str(models["q8_0"]), "--draft", str(models["q4_0"]))
        for choice in ("own", "stock"):
            for strategy in STRATEGIES:
                with report.case(f"text by {strategy} with {choice} kernels") as case:
                    words = (*pair, "--strategy", strategy, "--kernels", choice)
                    case.figure = _same(program.chat(*words), local.chat(*words), choice)


def compare(model: Path, places: tuple[Unpacked, Unpacked], n_pairs: int) -> tuple[str, float]:
    """Time decodes of one model on both sides, in turns.

    Args:
        model: The file.
        places: The local build, and the package.
        n_pairs: Starts of both.

    Returns:
        The figures in words, and the least of the ratios' medians.
    """
    # It needs NumPy, which the other trials do without.
    from paceline.bench.recommend import bootstrap  # noqa: PLC0415

    least: list[dict[int, tuple[float, float]]] = []
    for i in range(n_pairs):
        order = places if i % 2 == 0 else places[::-1]
        with ExitStack() as ends:
            asked = {place: ends.enter_context(_child(model, place)) for place in order}
            found = {width: [float("inf")] * 2 for width in WIDTHS}
            for turn in range(N_TURNS):
                for width in WIDTHS:
                    for place in places if (turn + width) % 2 else places[::-1]:
                        side = places.index(place)
                        taken = _ask(asked[place], width)
                        found[width][side] = min(taken, found[width][side])
        least.append({width: (both[0], both[1]) for width, both in found.items()})
    words, medians = [], []
    for width in WIDTHS:
        ratio = bootstrap([[each[width][0] / each[width][1] for each in least]])
        medians.append(ratio.median)
        local, package = (min(each[width][side] for each in least) for side in (0, 1))
        words.append(f"T({width}) {package:.2f} ms, local {local:.2f}, {ratio}")
    return ", ".join(words), min(medians)


def calibrated(program: Program, local: Program, model: Path, n_turns: int = 3) -> str:
    """Return the least milliseconds of each width by `calibrate`, and how both compare.

    Raises:
        TrialError: It cannot be measured.
    """
    words = ("calibrate", "--json", "--target", str(model), "--threads", "1", "--gpu-layers", "0")
    least: dict[tuple[int, int], float] = {}
    for _ in range(n_turns):
        for side, each in enumerate((program, local)):
            ended = each.run(*words)
            expect(ended.code == 0, ended.last_words)
            for row in json.loads(ended.out)["widths"]:
                at = side, row["tokens"]
                least[at] = min(row["seconds"], least.get(at, float("inf")))
    both = [width for width in WIDTHS if (0, width) in least and (1, width) in least]
    return ", ".join(
        f"T({n}) {1000 * least[0, n]:.2f} ms, local {1000 * least[1, n]:.2f}" for n in both
    )


def _same(packaged: Reply, local: Reply, choice: str) -> str:
    """Compare two replies, and say which kernels have computed them."""
    expect(packaged.tokens == local.tokens, f"{packaged.text!r} in place of {local.text!r}")
    for reply in (packaged, local):
        computed = reply.stats["kernels"]
        assert isinstance(computed, Mapping)
        expect(choice in computed.values(), f"kernels: {computed}")
    return f"{len(packaged.tokens)} tokens equal"


@contextmanager
def _child(model: Path, place: Unpacked) -> Iterator[subprocess.Popen[str]]:
    """Start a process that decodes with the libraries of this place."""
    command = [sys.executable, "-m", "package_trials.kernels_child", str(model), str(place.kernels)]
    env = {**os.environ, "PYTHONPATH": _path(), "LLAMA_CPP_LIB_PATH": str(place.libraries)}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=env, text=True, stdin=pipe, stdout=pipe, stderr=pipe
    ) as child:
        try:
            assert child.stdout is not None
            assert child.stderr is not None
            if not child.stdout.readline().startswith("ready"):
                raise TrialError(f"no decodes: {child.stderr.read().strip()[-300:]}")
            yield child
        finally:
            child.kill()


def _ask(child: subprocess.Popen[str], width: int) -> float:
    """Return the least milliseconds of some decodes."""
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(f"{width} {N_DECODES}\n")
    child.stdin.flush()
    return float(child.stdout.readline())


def _here(home: Path) -> Unpacked:
    """Return the local build that the trials run in."""
    try:
        from paceline.installation import kernel_files  # noqa: PLC0415
    except ImportError as error:
        raise CannotTryError(f"Run it by the checkout's environment ({error}).") from None
    libraries, kernels = kernel_files.ggml_folder(), kernel_files.find(home)
    if libraries is None or kernels is None:
        raise CannotTryError("The checkout's environment has no own kernels; see bootstrap.py.")
    return Unpacked(Path(sys.executable), libraries, kernels)


def _model(kind: str) -> Path:
    """Return SmolLM2 in a type of weights, made where it is missing."""
    tests = str(PACKAGING.parent / "tests")
    if tests not in sys.path:
        sys.path.append(tests)
    try:
        import real_models  # noqa: PLC0415 - it lies with the tests

        return Path(real_models.path("smollm2-135m", kind))
    except ImportError as error:
        raise CannotTryError(f"Run it by the checkout's environment ({error}).") from None
    except real_models.NoPackageIndexError as error:
        raise CannotTryError(f"The models cannot be had: {error}.") from None


def _path() -> str:
    """Return the PYTHONPATH of a process that runs the trials' own modules."""
    return os.pathsep.join(map(str, (PACKAGING, PACKAGING.parent / "app")))
