"""The inspector on sound files: whole, split, without weights; and what it remembers."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

import make_pairs
from catalog.headers import gguf_bytes, small_vocabulary, write_hole, write_split
from gguf_file import read, strings
from hosting.observed import is_gone
from paceline.catalog.inspect.inspector import Inspector
from paceline.engine.llama import LlamaBackend, read_header
from paceline.engine.model.vocabularies import vocabulary_hash
from paceline.errors import CancelledError, ModelError, ValueOutOfRangeError
from paceline.params import ModelParams


def test_the_demo_pair(inspector: Inspector, demo_pair: tuple[Path, Path]) -> None:
    target, draft = (inspector.examine(path) for path in demo_pair)
    assert target.card.name == "Paceline demo target 17M"
    assert (target.card.architecture, target.card.quantisation) == ("llama", "Q8_0")
    assert target.card.n_params == pytest.approx(17e6, rel=0.05)
    assert target.card.n_bytes == sum(t.n_bytes for t in read_header(demo_pair[0]).tensors)
    assert (target.card.n_layers, draft.card.n_layers) == (8, 2)
    assert target.card.output_bytes == 4 * target.card.n_embd  # the embedding is the output
    assert target.texts == draft.texts
    assert target.card.vocabulary == draft.card.vocabulary
    assert target.nature == draft.nature
    assert (target.nature.memory, target.nature.writes) == ("attention", True)
    assert target.card == inspector.card(demo_pair[0])


def test_the_native_library_stays_out_of_this_process(target_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from paceline.catalog.inspect.inspector import Inspector\n"
        "if __name__ == '__main__':\n"
        "    inspector = Inspector()\n"
        "    print(inspector.card(pathlib.Path(sys.argv[1])).name, 'llama_cpp' in sys.modules)\n"
        "    inspector.close()\n"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(target_path)],
        capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert result.stdout.strip() == "Paceline demo target 17M False", result.stderr


def test_nothing_runs_before_the_first_question_and_after_the_last(target_path: Path) -> None:
    before = set(threading.enumerate())
    inspector = Inspector()
    assert inspector.pid == 0
    assert set(threading.enumerate()) == before
    inspector.card(target_path)
    pid = inspector.pid
    assert psutil.pid_exists(pid)
    inspector.close()
    assert is_gone(pid, 10)
    assert set(threading.enumerate()) == before
    inspector.close()  # twice is harmless
    with pytest.raises(CancelledError):
        inspector.card(target_path)


def test_resting_ends_the_process_until_the_next_question(
    own_inspector: Inspector, target_path: Path
) -> None:
    inspector = own_inspector
    inspector.rest()  # nothing runs yet
    assert inspector.pid == 0
    card = inspector.card(target_path)
    pid = inspector.pid
    inspector.rest()
    assert is_gone(pid, 10)
    assert inspector.card(target_path) == card
    assert inspector.pid not in (0, pid)


# -------------------------------------------------------------------------------- odd files


def test_a_header_and_a_hole_are_as_good_as_the_file(
    inspector: Inspector, target_path: Path, tmp_path: Path
) -> None:
    file = tmp_path / target_path.name
    write_hole(target_path, file)
    assert inspector.examine(file) == inspector.examine(target_path)
    params = ModelParams(str(target_path), n_ctx=512)
    assert inspector.measure(ModelParams(str(file), n_ctx=512)) == inspector.measure(params)


def test_a_split_model(inspector: Inspector, target_path: Path, tmp_path: Path) -> None:
    whole = inspector.examine(target_path)
    parts = write_split(target_path, tmp_path)
    assert inspector.examine(parts[0], parts) == whole
    assert inspector.examine(parts[0]) == whole  # the others lie beside it
    assert inspector.examine(parts[2]) == whole  # and any part leads to all
    assert inspector.card(parts[0], parts[1:]) == whole.card


def test_the_first_part_alone_contains_everything_but_sizes(
    inspector: Inspector, target_path: Path, tmp_path: Path
) -> None:
    whole = inspector.examine(target_path)
    first, *others = write_split(target_path, tmp_path)
    for part in others:
        part.unlink()
    alone = inspector.examine(first)
    assert (alone.nature, alone.texts) == (whole.nature, whole.texts)
    assert (alone.card.name, alone.card.kv_elements) == (whole.card.name, whole.card.kv_elements)
    assert alone.card.n_bytes == 0


def test_another_part_alone_is_no_model(
    inspector: Inspector, target_path: Path, tmp_path: Path
) -> None:
    first, second, _ = write_split(target_path, tmp_path)
    first.unlink()
    with pytest.raises(ModelError, match="no architecture") as refusal:
        inspector.card(second)
    assert "first part" in refusal.value.hint


@pytest.mark.parametrize(
    ("name", "memory"), [("tiny-mamba", "recurrent"), ("tiny-swa", "attention")]
)
def test_kinds_of_memory(inspector: Inspector, name: str, memory: str) -> None:
    assert inspector.examine(make_pairs.path(name)).nature.memory == memory


def encoder() -> bytes:
    model = small_vocabulary()
    model.set(llama__attention__causal=False)
    return gguf_bytes(model)


def diffusion() -> bytes:
    model = small_vocabulary()
    model.set(general__architecture="dream")
    return gguf_bytes(model)


@pytest.mark.parametrize("make", [encoder, diffusion])
def test_what_does_not_write(
    inspector: Inspector, tmp_path: Path, make: Callable[[], bytes]
) -> None:
    file = tmp_path / "x.gguf"
    file.write_bytes(gguf_bytes(small_vocabulary()))
    assert inspector.examine(file).nature.writes
    file.write_bytes(make())
    assert not inspector.examine(file).nature.writes


@pytest.mark.parametrize("name", ["tiny-target", "tiny-swa", "tiny-moe"])
def test_the_cards_caches_are_those_of_a_dry_run(inspector: Inspector, name: str) -> None:
    path = make_pairs.path(name)
    card = inspector.card(path)
    n_ctx = 2048  # llama.cpp prints MiB with two decimals
    measured = inspector.measure(ModelParams(str(path), n_ctx=n_ctx)).kv_layers
    expected = [2 * n_ctx * (keys + values) for keys, values in card.kv_elements]
    assert all(a >= 0.98 * b for a, b in zip(expected, measured, strict=True))
    if name != "tiny-swa":  # there a window makes it less
        assert expected == pytest.approx(measured, rel=0.02)


# ------------------------------------------------------------------------------- refusals


def test_refusals_are_the_readers(inspector: Inspector, tmp_path: Path, target_path: Path) -> None:
    garbage = tmp_path / "x.gguf"
    garbage.write_bytes(b"GGUF" + bytes(100))
    for path, code in (
        (make_pairs.path("not-a-model"), "not-a-gguf"),
        (garbage, "not-a-gguf"),
        (tmp_path / "missing.gguf", "file-not-found"),
        (tmp_path / "missing-00001-of-00002.gguf", "file-not-found"),
        (tmp_path, "is-a-directory"),
    ):
        for ask in (inspector.card, inspector.examine):
            with pytest.raises(ModelError) as refusal:
                ask(path)
            assert refusal.value.code == code
            assert refusal.value.message.endswith(".")
            assert refusal.value.hint
    assert inspector.card(target_path).n_layers == 8


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
def test_a_pipe_is_not_waited_for(inspector: Inspector, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.gguf")
    with pytest.raises(ModelError) as refusal:
        inspector.card(tmp_path / "x.gguf")
    assert refusal.value.code == "not-a-file"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
def test_a_name_that_is_no_text(inspector: Inspector, tmp_path: Path, target_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"caf\xe9.gguf")
    file.symlink_to(target_path)
    with pytest.raises(ModelError, match="no valid text") as refusal:
        inspector.card(file)
    refusal.value.message.encode()


def test_without_a_tokenizer(inspector: Inspector, tmp_path: Path) -> None:
    model = small_vocabulary()
    for key in [key for key in model.metadata if key.startswith("tokenizer.")]:
        del model.metadata[key]
    model.set(tokenizer__ggml__model="none")
    file = tmp_path / "x.gguf"
    file.write_bytes(gguf_bytes(model))
    assert inspector.card(file).vocabulary == ""
    with pytest.raises(ModelError) as refusal:
        inspector.examine(file)
    assert refusal.value.code == "no-tokenizer"


def test_parameters_of_a_dry_run_that_make_no_sense(
    inspector: Inspector, target_path: Path
) -> None:
    with pytest.raises(ValueOutOfRangeError):
        inspector.measure(ModelParams(str(target_path), kv_type_k="q9"))
    with pytest.raises(ValueOutOfRangeError):
        inspector.measure(ModelParams(str(target_path), n_ctx=10**6))


# ----------------------------------------------------------------------------- what it keeps


def test_what_is_known_needs_no_process(tmp_path: Path, demo_pair: tuple[Path, Path]) -> None:
    first = Inspector(tmp_path)
    examined = first.examine(demo_pair[0])
    first.close()
    again = Inspector(tmp_path)
    try:
        assert again.examine(demo_pair[0]) == examined
        assert again.pid == 0
        assert again.examine(demo_pair[1]).texts is again.examine(demo_pair[0]).texts
    finally:
        again.close()
    assert [file.name for file in (tmp_path / "vocabularies").iterdir()] == [
        examined.card.vocabulary
    ]


@pytest.mark.parametrize("folder", ["vocabularies", "examined"])
def test_what_is_broken_in_the_cache_is_made_anew(
    tmp_path: Path, draft_path: Path, folder: str
) -> None:
    first = Inspector(tmp_path)
    examined = first.examine(draft_path)
    first.close()
    (file,) = (tmp_path / folder).iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    again = Inspector(tmp_path)
    try:
        assert again.examine(draft_path) == examined
        assert again.pid
    finally:
        again.close()
    assert file.read_bytes() == whole


def test_a_cache_that_cannot_be_written_costs_time_alone(tmp_path: Path, draft_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    inspector = Inspector(tmp_path / "file" / "cache")
    try:
        assert inspector.examine(draft_path) == inspector.examine(draft_path)
    finally:
        inspector.close()


def test_tokens_without_a_text_have_the_engines(inspector: Inspector, tmp_path: Path) -> None:
    model = read(make_pairs.DEMO_DRAFT)
    tokens = list(strings(model.metadata["tokenizer.ggml.tokens"]))
    tokens[100] = ""
    model.set(tokenizer__ggml__tokens=tokens)
    file = tmp_path / "x.gguf"
    file.write_bytes(gguf_bytes(model))
    examined = inspector.examine(file)
    assert examined.texts[100] == b"[EMPTY_100]"
    vocab = LlamaBackend().load_vocabulary(str(file))
    try:
        assert examined.card.vocabulary == vocabulary_hash(vocab)
    finally:
        vocab.close()


def test_what_a_file_says_cannot_colour_a_terminal(inspector: Inspector, tmp_path: Path) -> None:
    model = small_vocabulary()
    model.set(general__architecture="\x1b[31m\n" + "x" * 10_000)
    file = tmp_path / "x.gguf"
    file.write_bytes(gguf_bytes(model))
    with pytest.raises(ModelError, match="unknown model architecture") as refusal:
        inspector.examine(file)
    assert refusal.value.message.isprintable()
    assert len(refusal.value.message) <= 500


def test_another_file_of_the_same_size_and_time_is_another(
    inspector: Inspector, tmp_path: Path
) -> None:
    file = tmp_path / "x.gguf"
    model = small_vocabulary()
    for eos in (2, 9):
        model.set(tokenizer__ggml__eos_token_id=eos)
        file.write_bytes(gguf_bytes(model))
        os.utime(file, ns=(1, 1))
        assert inspector.examine(file).nature.eos == eos
