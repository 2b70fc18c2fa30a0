"""Files that crash, hang or derange the process that looks at them cost one answer each."""

from __future__ import annotations

import os
import random
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog import bad_readers
from catalog.headers import gguf_bytes, small_vocabulary
from gguf_file import read
from paceline.catalog.card import ModelCard
from paceline.catalog.inspect.inspector import Inspector
from paceline.errors import CancelledError, ModelError
from paceline.params import ModelParams

if TYPE_CHECKING:
    from trials import Trials

Allow = Callable[[str], None]
REFUSALS = ("not-a-gguf", "cannot-load", "newer-model", "no-tokenizer", "crashes-the-reader")


@pytest.fixture
def inspector(own_inspector: Inspector) -> Inspector:
    """One whose process may die."""
    return own_inspector


@pytest.fixture
def broken(tmp_path: Path) -> Iterator[Inspector]:
    """An inspector on whose process files have the effect of their names."""
    inspector = Inspector(tmp_path / "cache", main=bad_readers.main, answer_s=20)
    yield inspector
    inspector.close()


@pytest.fixture
def ask(broken: Inspector, tmp_path: Path, draft_path: Path) -> Callable[[str], ModelCard]:
    """Asks for the card of the demo draft under another name."""

    def ask(name: str) -> ModelCard:
        file = tmp_path / f"{name}.gguf"
        if not file.exists():
            file.write_bytes(draft_path.read_bytes())
        return broken.card(file)

    return ask


def refused(ask: Callable[[str], object], name: str) -> ModelError:
    with pytest.raises(ModelError) as refusal:
        ask(name)
    assert name in refusal.value.message
    assert refusal.value.message.endswith(".")
    return refusal.value


TROUBLES = {
    "segfault": ("crashes-the-reader", "llama.cpp crashes when it reads the file's header"),
    "eat": ("crashes-the-reader", "more memory than there is"),
    "twice": ("crashes-the-reader", "llama.cpp gave nonsense"),
    "changed": ("crashes-the-reader", "llama.cpp gave nonsense"),
    "path": ("crashes-the-reader", "llama.cpp gave nonsense"),
    "wrong-kind": ("crashes-the-reader", "llama.cpp gave nonsense"),
}


@pytest.mark.parametrize("fault", TROUBLES)
def test_files_that_break_the_process_cost_their_own_answers(
    ask: Callable[[str], ModelCard], allow_warnings: Allow, fault: str
) -> None:
    allow_warnings("reader of model files")
    if fault == "eat" and sys.platform != "linux":
        pytest.skip("there is no limit to break")
    code, words = TROUBLES[fault]
    error = refused(ask, fault)
    assert error.code == code
    assert words in error.message
    assert error.hint
    assert ask("sound").n_layers == 2


def test_a_file_is_not_blamed_for_damage_done_by_another_one(
    ask: Callable[[str], ModelCard], broken: Inspector, allow_warnings: Allow
) -> None:
    allow_warnings("reader of model files")
    card = ask("sound")
    ask("poison")
    pid = broken.pid
    assert ask("sound") == card  # which kills the process that read the poison
    assert broken.pid != pid


def test_a_file_over_which_the_process_hangs(
    tmp_path: Path, draft_path: Path, allow_warnings: Allow
) -> None:
    allow_warnings("ran longer than 0.5 seconds")
    inspector = Inspector(main=bad_readers.main, answer_s=0.5)
    file = tmp_path / "spin.gguf"
    file.write_bytes(draft_path.read_bytes())
    try:
        error = refused(lambda _: inspector.card(file), "spin")
        assert error.code == "takes-too-long"
        assert inspector.card(draft_path).n_layers == 2
    finally:
        inspector.close()


def test_closing_cancels_a_question(
    broken: Inspector, ask: Callable[[str], ModelCard], draft_path: Path
) -> None:
    ask("sound")
    asking = threading.Timer(0.2, broken.close)
    asking.start()
    with pytest.raises(CancelledError):
        ask("hang")
    asking.join()


@pytest.mark.parametrize(
    ("main", "code"),
    [(bad_readers.silent, "cannot-look"), (bad_readers.chatty, "crashes-the-reader")],
)
def test_a_process_that_never_gets_ready(
    draft_path: Path, allow_warnings: Allow, main: Callable[..., None], code: str
) -> None:
    allow_warnings("reader of model files")
    inspector = Inspector(main=main)
    try:
        assert refused(lambda _: inspector.card(draft_path), draft_path.stem).code == code
    finally:
        inspector.close()


def test_a_system_that_starts_no_process(
    draft_path: Path, monkeypatch: pytest.MonkeyPatch, inspector: Inspector, allow_warnings: Allow
) -> None:
    allow_warnings("No such file")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/nowhere/python")
        error = refused(lambda _: inspector.card(draft_path), draft_path.stem)
    assert error.code == "cannot-look"
    assert "No such file" in error.message
    assert inspector.card(draft_path).n_layers == 2


def test_a_hash_that_leads_elsewhere_writes_nothing(
    broken: Inspector, tmp_path: Path, draft_path: Path, allow_warnings: Allow
) -> None:
    allow_warnings("reader of model files")
    file = tmp_path / "path.gguf"
    file.write_bytes(draft_path.read_bytes())
    refused(lambda _: broken.examine(file), "path")
    assert not list(tmp_path.parent.rglob("*evil*"))


def test_texts_that_are_not_those_of_the_card(
    broken: Inspector, tmp_path: Path, draft_path: Path
) -> None:
    file = tmp_path / "texts.gguf"
    file.write_bytes(draft_path.read_bytes())
    error = refused(lambda _: broken.examine(file), "texts")
    assert error.code == "changed"
    assert not (tmp_path / "cache" / "vocabularies").exists()


def test_a_header_that_makes_llama_cpp_abort(
    inspector: Inspector, tmp_path: Path, draft_path: Path, allow_warnings: Allow
) -> None:
    allow_warnings("crashed, SIGABRT .*n_layer")
    model = read(draft_path)
    model.set(llama__block_count=4000)
    file = tmp_path / "many.gguf"
    file.write_bytes(gguf_bytes(model))
    with pytest.raises(ModelError, match="4000 blocks"):
        inspector.card(file)
    error = refused(lambda _: inspector.measure(ModelParams(str(file))), "many")
    assert error.code == "crashes-the-reader"
    assert inspector.card(draft_path).n_layers == 2


def mutant(sound: bytes, end: int, rng: random.Random) -> bytes:
    """The file with some bytes of its header changed, or a piece cut out, doubled or blown up."""
    data = bytearray(sound)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at = rng.randrange(end)
        match rng.randrange(6):
            case 0:
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                data[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
            case 2:
                data[at : at + 8] = rng.choice((0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1)).to_bytes(
                    8, "little"
                )
            case 3:
                del data[at : at + rng.randrange(1, 9)]
            case 4:
                data[at:at] = rng.randbytes(rng.randrange(1, 9))
            case _:
                data[at : at + 4] = rng.randrange(14).to_bytes(4, "little")
    return bytes(data)


def outcome(inspector: Inspector, file: Path) -> str:
    """The code of the refusal; empty when the file can be used, and what is said of it is sound."""
    try:
        examined = inspector.examine(file)
    except ModelError as error:
        return error.code
    card = examined.card
    assert len(examined.texts) == card.n_vocab == examined.nature.n_tokens
    assert len(card.layer_bytes) == card.n_layers
    return ""


def test_mutants_of_a_header_do_no_harm(
    inspector: Inspector, tmp_path: Path, allow_warnings: Allow, trials: Trials
) -> None:
    allow_warnings("reader of model files")
    sound = gguf_bytes(small_vocabulary())
    rng = random.Random(5)
    file = tmp_path / "mutant.gguf"
    codes, pids = [], set()
    for number in trials(60, 5000):
        file.write_bytes(mutant(sound, len(sound) - 256, rng))
        os.utime(file, ns=(number, number))
        codes.append(outcome(inspector, file))
        pids.add(inspector.pid)
    assert set(codes) <= {"", *REFUSALS}
    assert 0.05 * trials.n < codes.count("") < 0.95 * trials.n  # else nothing is tested
    assert len(pids) < 0.1 * trials.n  # nearly all of them are refused by the parser itself
    file.write_bytes(sound)
    assert inspector.examine(file).nature.n_tokens == 300


def test_tokenizer_values_that_lead_nowhere(
    inspector: Inspector, tmp_path: Path, allow_warnings: Allow
) -> None:
    allow_warnings("reader of model files")
    file = tmp_path / "x.gguf"
    for number, (key, value, expected) in enumerate(
        (
            ("eos_token_id", 2**32 - 1, ""),
            ("bos_token_id", 300, ""),
            ("add_bos_token", "yes", "cannot-load"),
            ("model", "nonsense", "newer-model"),
            ("pre", "nonsense", "newer-model"),
            ("merges", ["no-space", "", " "], ""),
            ("merges", 7, "cannot-load"),
            ("token_type", 7, "cannot-load"),
            ("tokens", 7, "cannot-load"),
            ("tokens", ["same"] * 300, "crashes-the-reader"),
            ("tokens", [], "no-tokenizer"),
        )
    ):
        model = small_vocabulary()
        model.set(**{f"tokenizer.ggml.{key}": value})
        file.write_bytes(gguf_bytes(model))
        os.utime(file, ns=(number, number))
        assert outcome(inspector, file) == expected, (key, value)
