"""Own kernels are found, proved and switched on, or the load says why not; with a stand-in."""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec import structs

import kernel_puppet
from hosting import hanging
from inline_client import InlineClient
from kernel_puppet import KEY, LIBRARY, NAMES
from paceline.engine.cancel import CancelFlag
from paceline.engine.facts import Facts
from paceline.engine.llama import kernel_library, kernels
from paceline.engine.llama.kernel_library import CannotProveError, Kernel, KernelLibrary, prove
from paceline.engine.llama.kernels import OwnKernels, mask_of
from paceline.engine.model import own_kernels
from paceline.engine.model.own_kernels import (
    HANG,
    PROVED,
    NoKernelsError,
    mark_path,
    read_mark,
    write_mark,
)
from paceline.errors import CancelledError
from paceline.hosting.child import run_child
from paceline.hosting.process import ProcessService
from paceline.installation import kernel_files
from paceline.installation.remedies import WHOLE
from paceline.messages import (
    EngineDied,
    Event,
    KernelUse,
    KernelWish,
    LoadFailed,
    LoadPair,
    ModelParams,
    PairLoaded,
    RawText,
    StartTurn,
    Tokens,
    TurnFinished,
)
from paceline.params import DraftModel
from paceline.workers.process import ChildMain
from strategies import strategy

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="own kernels are for Linux")
AllowWarnings = Callable[[str], None]
ALL = dict.fromkeys(NAMES, "proved")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kernel_puppet.compiled(tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def own(library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Let the stand-in be found, here and in children; gives what says how it behaves."""
    monkeypatch.setenv(LIBRARY, str(library))
    monkeypatch.setattr(kernel_files, "find", kernel_files.find)  # so that it is put back
    kernel_puppet.take_it()
    yield monkeypatch
    kernels._facts_of_process.cache_clear()


def outcomes(library: Path, *names: str, **options: float) -> dict[str, str]:
    return dict(prove(library, names or NAMES, CancelFlag(), **options))


def begun(log: Path) -> list[str]:
    return log.read_text("utf-8").split() if log.exists() else []


# -------------------------------------------------------------------------------------- the proof


def test_every_kernel_is_tested_in_another_process(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_LOG", str(tmp_path / "log"))
    assert outcomes(library) == ALL
    assert begun(tmp_path / "log") == list(NAMES)


@pytest.mark.grid(short=3)
@pytest.mark.parametrize(
    ("name", "what", "outcome"),
    [
        ("q8_0", "wrong", "wrong"),
        ("q4_K-repacked", "unable", "not run"),
        ("q8_0", "crash", "crashed, SIGSEGV"),
        ("q4_K-repacked", "crash", "crashed, SIGSEGV"),
        ("attention-f16", "abort", "crashed, SIGABRT"),
        ("q4_K-repacked", "hang", "hung"),
        ("attention-f16", "hang", "hung"),
    ],
)
def test_a_kernel_that_fails_costs_itself_alone(
    name: str, what: str, outcome: str, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"STAND_IN_{name.replace('-', '_').upper()}", what)
    assert outcomes(library, kernel_s=1.0) == {**ALL, name: outcome}


def test_time_that_is_up_is_no_kernels_fault(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_Q4_K_REPACKED", "hang")
    found = outcomes(library, limit_s=3.0, kernel_s=30.0)
    assert found == {"q8_0": "proved"}


def test_a_test_can_be_cancelled(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_Q8_0", "hang")
    flag = CancelFlag()
    timer = threading.Timer(0.5, flag.set)
    timer.start()
    began = time.monotonic()
    with pytest.raises(CancelledError):
        dict(prove(library, NAMES, flag))
    assert time.monotonic() - began < kernel_library.MAX_KERNEL_S
    timer.join()


def test_what_comes_in_the_way_of_every_test(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CannotProveError, match="cannot be loaded"):
        outcomes(tmp_path / "none.so")
    monkeypatch.setenv("STAND_IN_INSTALL", "1")
    with pytest.raises(CannotProveError, match="does not take them"):
        outcomes(library)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(CannotProveError, match="no process can be started"):
        outcomes(library)


def test_nothing_to_test_starts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    assert not dict(prove(tmp_path, (), CancelFlag()))


def test_a_frozen_program_is_its_own_child(
    tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "paceline"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nfrom paceline.__main__ import main\n"
        "sys.frozen = True\nsys.exit(main())\n"
    )
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert outcomes(library) == ALL


# ------------------------------------------------------------------------------------- the choice


class Chosen:
    """One choice, and what it left."""

    def __init__(
        self, wish: KernelWish = "auto", cache_dir: str = "", facts: Facts | None = None
    ) -> None:
        self.own = OwnKernels()
        self.notes = self.own.choose(wish, facts or Facts(cache_dir), cache_dir, CancelFlag())


def refusal(cache_dir: str = "") -> str:
    """Return why own kernels cannot be used: a note for "auto", an error for "own"."""
    (note,) = Chosen("auto", cache_dir).notes
    with pytest.raises(NoKernelsError) as error:
        Chosen("own", cache_dir)
    assert error.value.code == "no-own-kernels"
    assert error.value.why in note
    assert error.value.message.endswith(".")
    return note


def test_proved_kernels_are_switched_on_in_silence(own: pytest.MonkeyPatch) -> None:
    for wish in ("auto", "own"):
        chosen = Chosen(wish)  # type: ignore[arg-type]
        assert not chosen.notes
        assert chosen.own.key == KEY
        assert chosen.own.fact == f"kernels-{KEY}-7"
        assert chosen.own.called() == {("q8_0", False), ("q4_K", False), ("f16", True)}


def test_stock_kernels_are_not_even_looked_for(own: pytest.MonkeyPatch) -> None:
    own.setattr(kernel_files, "find", None)
    chosen = Chosen("stock")
    assert not chosen.notes
    assert not chosen.own.key
    assert not chosen.own.fact
    assert not chosen.own.called()


def test_the_next_load_may_choose_otherwise(own: pytest.MonkeyPatch) -> None:
    chosen = Chosen("auto").own
    chosen.choose("stock", Facts(""), "", CancelFlag())
    assert not chosen.key
    assert not chosen.called()
    in_process = KernelLibrary(Path(os.environ[LIBRARY]))
    assert in_process.called() == 0
    chosen.choose("own", Facts(""), "", CancelFlag())
    assert chosen.key == KEY
    assert in_process.called() == 7
    Chosen("stock")  # another backend: what it chooses holds for the process
    assert in_process.called() == 0


def test_a_proof_is_made_once(own: pytest.MonkeyPatch, tmp_path: Path) -> None:
    log, cache = tmp_path / "log", str(tmp_path / "cache")
    own.setenv("STAND_IN_LOG", str(log))
    Chosen("auto", cache)
    assert begun(log) == list(NAMES)
    kernels._facts_of_process.cache_clear()  # as in another process
    Chosen("auto", cache)
    Chosen("own", cache)
    assert len(begun(log)) == 3
    assert own_kernels.known_outcomes(Facts(cache), KEY) == ALL
    assert Facts(cache).get(own_kernels.isa_fact(KEY)) == "stand-in"


def test_without_a_folder_a_proof_holds_for_the_process(
    own: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own.setenv("STAND_IN_LOG", str(tmp_path / "log"))
    Chosen()
    Chosen()
    assert len(begun(tmp_path / "log")) == 3


def test_another_processor_needs_another_proof(own: pytest.MonkeyPatch, tmp_path: Path) -> None:
    log, cache = tmp_path / "log", str(tmp_path / "cache")
    own.setenv("STAND_IN_LOG", str(log))
    Chosen("auto", cache)
    own.setattr(own_kernels, "processor", lambda: "another one")
    Chosen("auto", cache)
    assert len(begun(log)) == 6


def test_failed_parts_are_left_out_and_reported(own: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own.setenv("STAND_IN_LOG", str(tmp_path / "log"))
    own.setenv("STAND_IN_Q8_0", "wrong")
    own.setenv("STAND_IN_ATTENTION_F16", "crash")
    for _ in range(2):
        chosen = Chosen("own", str(tmp_path / "cache"))
        (note,) = chosen.notes
        assert "q8_0 (wrong), attention-f16 (crashed, SIGSEGV)" in note
        assert "--build-kernels" in note
        assert chosen.own.fact.endswith("-2")
        assert chosen.own.called() == {("q4_K", False)}
    assert len(begun(tmp_path / "log")) == 3


@pytest.mark.parametrize("missing", ["q4_K", "q4_K-repacked"])
def test_kernels_of_a_type_are_used_together_or_not_at_all(missing: str) -> None:
    """A model has both layouts of a type, and its type is all that is told of whose computed."""
    names = {"q8_0": "q8_0", "q4_K": "q4_K", "q4_K-repacked": "q4_K", "f16": "f16"}
    found = [Kernel(name, kind, is_attention=False) for name, kind in names.items()]
    library = SimpleNamespace(kernels=[*found, Kernel("attention-f16", "f16", is_attention=True)])
    proved = {kernel.name: PROVED for kernel in library.kernels}
    assert mask_of(library, proved, WHOLE) == 0b11111  # type: ignore[arg-type]
    del proved[missing]  # the others' tests took too long
    assert mask_of(library, proved, WHOLE) == 0b11001  # type: ignore[arg-type]
    proved["f16"] = "wrong"
    assert mask_of(library, proved, WHOLE) == 0b10001  # type: ignore[arg-type]


def test_a_proof_continues_where_it_was_stopped(own: pytest.MonkeyPatch, tmp_path: Path) -> None:
    log, cache = tmp_path / "log", str(tmp_path / "cache")
    own.setenv("STAND_IN_LOG", str(log))
    own.setenv("STAND_IN_Q4_K_REPACKED", "hang")
    own.setattr(kernels, "prove", functools.partial(prove, limit_s=3.0, kernel_s=30.0))
    assert not Chosen("auto", cache).notes, "what is not tested yet is no user's concern"
    own.delenv("STAND_IN_Q4_K_REPACKED")
    assert not Chosen("auto", cache).notes
    assert begun(log) == ["q8_0", "q4_K-repacked", "q4_K-repacked", "attention-f16"]


def test_no_library(own: pytest.MonkeyPatch) -> None:
    own.delenv(LIBRARY)
    kernel_puppet.take_it()
    own.setattr(kernel_files, "is_possible", lambda: True)
    assert "not built for this llama.cpp; llama.cpp's compute. `paceline doctor" in refusal()
    own.setattr(kernel_files, "key", lambda: "")
    assert "cannot be found" in refusal()


def test_where_there_can_be_none_only_who_insists_hears_of_it(own: pytest.MonkeyPatch) -> None:
    own.delenv(LIBRARY)
    kernel_puppet.take_it()
    own.setattr(kernel_files, "is_possible", lambda: False)
    chosen = Chosen("auto")
    assert not chosen.notes
    assert not chosen.own.key
    with pytest.raises(NoKernelsError, match="need Linux and an x86-64 processor"):
        Chosen("own")


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ({"INTERFACE": "2"}, "interface 2 instead of 1"),
        ({"INSTALL": "1"}, "does not take them"),
        (
            dict.fromkeys(("Q8_0", "Q4_K_REPACKED", "ATTENTION_F16"), "wrong"),
            "none of them has passed",
        ),
    ],
)
def test_a_library_that_cannot_be_used(
    behaviour: dict[str, str], words: str, own: pytest.MonkeyPatch
) -> None:
    for name, value in behaviour.items():
        own.setenv(f"STAND_IN_{name}", value)
    assert words in refusal()


def test_a_file_that_is_no_such_library(own: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = next(Path("/lib").glob("*/libm.so.6"), Path("none"))
    own.setattr(kernel_files, "find", lambda _cache: other)
    assert "cannot be loaded" in refusal()
    broken = tmp_path / kernel_files.library_name(KEY)
    broken.write_bytes(b"no library")
    own.setenv(LIBRARY, str(broken))
    kernel_puppet.take_it()
    assert "cannot be loaded" in refusal()


def test_a_test_that_cannot_be_run(own: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own.setattr(sys, "executable", str(tmp_path / "no-python"))
    assert "their test cannot be run" in refusal()


def test_a_marked_build_is_not_used(own: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cache = str(tmp_path)
    write_mark(cache, KEY, "q4_K-repacked")
    note = refusal(cache)
    assert "ended the engine once (q4_K-repacked)" in note
    assert "--build-kernels" in note
    mark = mark_path(cache, KEY)
    assert mark is not None
    mark.unlink()
    assert not Chosen("auto", cache).notes


def test_a_mark_can_have_any_name(own: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert Chosen("auto", f"{tmp_path}/\udcff").own.key == KEY


# ---------------------------------------------------------------------------------------- the load


class Loaded:
    """A load of the demo pair, inline or in a process, and its events."""

    def __init__(
        self, pair: tuple[Path, Path], main: ChildMain | None = None, **options: object
    ) -> None:
        self.client = (
            InlineClient(lambda emit, broker: ProcessService(emit, broker, main=main))
            if main is not None
            else InlineClient()
        )
        self.events: list[Event] = []
        self.client.on_event = self.events.append
        target, draft = (ModelParams(str(path), n_threads=1) for path in pair)
        self.load = LoadPair(target, DraftModel(draft), **options)  # type: ignore[arg-type]
        self.client.request(self.load)
        self.answer = self.events[-1]

    def __enter__(self) -> PairLoaded:
        assert isinstance(self.answer, PairLoaded), self.answer
        return self.answer

    def __exit__(self, *_: object) -> None:
        self.client.close()


IN_PROCESS = partial(run_child, prepare=kernel_puppet.take_it)
DEMO = KernelUse("q8_0", "own"), KernelUse("attention", "own")
STOCK = KernelUse("q8_0", "stock"), KernelUse("attention", "stock")


@pytest.mark.parametrize("main", [None, IN_PROCESS], ids=["inline", "process"])
def test_a_load_says_whose_kernels_compute(
    own: pytest.MonkeyPatch, demo_pair: tuple[Path, Path], tmp_path: Path, main: ChildMain | None
) -> None:
    wishes: tuple[tuple[KernelWish, tuple[KernelUse, ...]], ...]
    wishes = (("auto", DEMO), ("stock", STOCK), ("own", DEMO))
    for wish, uses in wishes[: 3 if main is None else 1]:
        run = Loaded(demo_pair, main, kernels=wish, cache_dir=str(tmp_path))
        with run as loaded:
            assert loaded.target.kernels == uses
            assert loaded.draft is not None
            assert not loaded.draft.kernels
            run.client.request(StartTurn(RawText("def f"), strategy=strategy("off"), max_tokens=2))
            last = run.events[-1]
            assert isinstance(last, TurnFinished)
            assert last.stats.kernels == uses


def test_measured_facts_depend_on_the_kernels(
    own: pytest.MonkeyPatch, target_path: Path, tmp_path: Path
) -> None:
    from paceline.engine.api import load_pair

    keys = []
    for wish in ("stock", "auto", "own", "stock"):
        with load_pair(target_path, kernels=wish, cache_dir=tmp_path) as pair:  # type: ignore[arg-type]
            keys.append(pair.loaded.target.model.facts_key)
    assert keys[0] == keys[3]
    assert keys[1] == keys[2] == f"{keys[0]}|kernels-{KEY}-7"


def test_a_gpu_that_has_all_layers_leaves_nothing_to_tell(
    own: pytest.MonkeyPatch, target_path: Path
) -> None:
    from paceline.engine.api import load_pair
    from paceline.engine.llama.model import LlamaModel

    for wish, n_cpu_moe, uses in (("stock", 0, ()), ("stock", 1, STOCK), ("own", 0, DEMO)):
        params = ModelParams(str(target_path), n_threads=1, n_cpu_moe=n_cpu_moe)
        with load_pair(params, kernels=wish) as pair:  # type: ignore[arg-type]
            model = pair.loaded.target.model
            assert isinstance(model, LlamaModel)
            model.info = structs.replace(model.info, n_gpu_layers=model.info.n_layers)
            assert model.kernel_uses() == uses


def test_a_load_that_insists_fails_before_it_reads_a_model(
    own: pytest.MonkeyPatch, demo_pair: tuple[Path, Path]
) -> None:
    own.setenv("STAND_IN_INTERFACE", "2")
    run = Loaded(demo_pair, kernels="own")
    assert isinstance(run.answer, LoadFailed)
    assert run.answer.code == "no-own-kernels"
    assert len(run.events) == 1
    run.client.close()


def hang_in_a_decode() -> None:
    """Let the eighth decode of a reply hang, in a process that finds the stand-in."""
    kernel_puppet.take_it()
    hanging.decode("sleep", 8)


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("wish", ["auto", "stock"])
def test_kernels_with_which_a_decode_hangs_are_not_used_again(
    wish: str,
    own: pytest.MonkeyPatch,
    demo_pair: tuple[Path, Path],
    tmp_path: Path,
    allow_warnings: AllowWarnings,
) -> None:
    allow_warnings("its process is ended")
    main = hanging.hanging(hang_in_a_decode)
    run = Loaded(demo_pair, main, kernels=wish, cache_dir=str(tmp_path))
    with run as loaded:
        tokens = tuple(range(100, 100 + hanging.TRIGGER))
        run.client.request(StartTurn(Tokens(tokens), strategy=strategy("off"), ignore_eog=True))
        died = run.events[-1]
        assert isinstance(died, EngineDied)
        assert "hangs" in died.reason
        assert read_mark(str(tmp_path), KEY) == (None if wish == "stock" else HANG)
        run.client.request(structs.replace(run.load, kernels="auto"))
        again = run.events[-1]
        assert isinstance(again, PairLoaded)
        assert again.target.kernels == (DEMO if wish == "stock" else STOCK)
        assert len(again.notes) == len(loaded.notes) + (wish == "auto")


def test_a_proof_stops_with_the_load(own: pytest.MonkeyPatch, demo_pair: tuple[Path, Path]) -> None:
    own.setenv("STAND_IN_Q8_0", "hang")
    client, events = InlineClient(), list[Event]()
    client.on_event = events.append
    timer = threading.Timer(1.0, client.cancel)
    timer.start()
    client.request(LoadPair(ModelParams(str(demo_pair[0])), kernels="auto"))
    timer.join()
    (failed,) = events
    assert isinstance(failed, LoadFailed)
    assert failed.code == "cancelled"
    client.close()


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("wish", ["auto", "own"])
def test_kernels_that_crash_in_a_load_are_not_used_again(
    wish: str,
    own: pytest.MonkeyPatch,
    demo_pair: tuple[Path, Path],
    tmp_path: Path,
    allow_warnings: AllowWarnings,
) -> None:
    allow_warnings("crashed|without own kernels")
    own.setenv("STAND_IN_USE", "crash")
    run = Loaded(demo_pair, IN_PROCESS, kernels=wish, cache_dir=str(tmp_path))
    assert read_mark(str(tmp_path), KEY) == "q8_0"
    if wish == "auto":
        with run as loaded:
            assert loaded.target.kernels == STOCK
            (note,) = loaded.notes
            assert "ended the engine once (q8_0)" in note
    else:
        assert isinstance(run.answer, LoadFailed)
        assert "ended the engine once" in run.answer.message
        run.client.close()
