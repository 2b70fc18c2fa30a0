"""The demo pair's recipe: tokens, rows, weights, files and steps, without PyTorch."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import gguf
import numpy as np
import pytest
from gguf.vocab import bytes_to_unicode

from demo_pair import evaluate, make_demo_pair
from demo_pair.chats.chat import SPECIAL, TEMPLATE, Chat, asked
from demo_pair.judging.card import filled_card
from demo_pair.judging.engine import EngineRefusedError, Pair
from demo_pair.judging.held_out import Judge
from demo_pair.judging.talking import acceptance, questions, reply, right_answers, workloads_of
from demo_pair.learning.gguf_file import label_for, write_gguf
from demo_pair.learning.packing import fill_rows, fill_rows_apart, pack, pack_apart
from demo_pair.learning.schedule import rate_factor
from demo_pair.learning.sizes import PRESETS, Size
from demo_pair.learning.tokens import Tokens, assistants
from demo_pair.learning.weights import (
    PIECE_BYTES,
    load_pieces,
    quantised,
    restored,
    save_pieces,
)
from demo_pair.steps import NotMadeError, Step, mark_done, run_steps
from paceline.paths import demo_pair

SIZE = Size(64, 1, 2, 1, 96, n_vocab=262)
MIB = 2**20


# -------------------------------------------------------------------------------- tokens, rows


def tokens(*lengths: int) -> Tokens:
    """Chats whose tokens are the chat's number; the second half of each is the assistant's."""
    ids = np.concatenate([np.full(n, at + 1, np.uint16) for at, n in enumerate(lengths)])
    said = np.concatenate([np.arange(n) >= n // 2 for n in lengths])
    return Tokens(ids, said, np.cumsum(lengths))


def test_what_the_assistant_says_is_found() -> None:
    header, end = np.array([1, 7, 8]), 2
    ids = np.array([1, 5, 8, 30, 2, 8, 1, 7, 8, 31, 32, 2, 8, 1, 7, 8, 33, 2, 8])
    assert ids[assistants(ids, header, end)].tolist() == [31, 32, 2, 33, 2]
    cut = ids[:11]
    assert cut[assistants(cut, header, end)].tolist() == [31, 32]


def test_tokens_are_kept(tmp_path: Path) -> None:
    tokens(3, 8, 5).save(tmp_path / "some.npz")
    read = Tokens.load(tmp_path / "some.npz")
    for name in ("ids", "said", "ends"):
        np.testing.assert_array_equal(getattr(read, name), getattr(tokens(3, 8, 5), name))


def test_rows_hold_every_chat_once_and_whole() -> None:
    lengths = np.random.default_rng(1).integers(3, 30, 700)
    rows = pack(tokens(*lengths), 100, seed=5)
    assert rows.filled > 0.97
    for number, n in enumerate(lengths, 1):
        places = np.argwhere(rows.ids == number)
        assert len(places) == n
        assert len(set(places[:, 0])) == 1  # one row
        assert np.ptp(places[:, 1]) == n - 1
        assert len({rows.chat[row, place] for row, place in places}) == 1
    assert rows.learnt.sum() == sum(n - n // 2 for n in lengths)
    assert not rows.learnt[rows.chat == 0].any()


def test_chats_that_are_too_long_are_cut() -> None:
    rows = pack(tokens(250, 30), 100, seed=1)
    assert sorted((rows.chat > 0).sum(1)) == [30, 100]


def test_chats_are_in_the_shortest_rows_that_they_fit_in() -> None:
    lengths = [20, 100, 21, 5, 300, 64, 20]
    kinds = pack_apart(tokens(*lengths), (20, 64, 128, 256), seed=1)
    assert [kind.ids.shape[1] for kind in kinds] == [20, 64, 128, 256]
    found = [sorted(set(kind.ids[kind.chat > 0].tolist())) for kind in kinds]
    # The longest is cut; behind that of 100 there is room for those of 21 and 5.
    assert found == [[1, 7], [6], [2, 3, 4], [5]]
    assert len(pack_apart(tokens(30, 40), (20, 64), seed=1)[0].ids) == 0


def test_rows_of_several_lengths_hold_every_chat_once() -> None:
    lengths = np.random.default_rng(6).integers(3, 200, 3_000)
    apart = fill_rows_apart(lengths, (50, 100, 200), np.random.default_rng(1))
    chats = [chat for rows in apart for row in rows for chat in row]
    assert sorted(chats) == list(range(len(lengths)))
    n_places = 0
    for rows, length, shorter in zip(apart, (50, 100, 200), (0, 50, 100), strict=True):
        n_places += length * len(rows)
        assert all(sum(lengths[row]) <= length for row in rows)
        assert all(max(lengths[row]) > shorter for row in rows)
    assert sum(lengths) > 0.95 * n_places


def test_rows_depend_on_the_seed_alone() -> None:
    lengths = np.random.default_rng(2).integers(3, 90, 300)
    one, again, other = (fill_rows(lengths, 100, np.random.default_rng(s)) for s in (1, 1, 2))
    assert one == again
    assert one != other


# --------------------------------------------------------------------------------- schedule


def test_the_rate_rises_stays_and_falls() -> None:
    factors = [rate_factor(n / 1000) for n in range(1001)]
    assert 0 < factors[0] < 0.01
    assert factors[100] == factors[500] == 1
    assert factors[-1] == pytest.approx(0.01)
    assert factors[100:] == sorted(factors[100:], reverse=True)


# ---------------------------------------------------------------------------------- weights


def weights(size: Size, seed: int = 3) -> dict[str, np.ndarray]:
    """Random weights with llama.cpp's names."""
    rng = np.random.default_rng(seed)
    head = size.width // size.heads * size.kv_heads
    shapes = {"token_embd.weight": (size.n_vocab, size.width), "output_norm.weight": (size.width,)}
    for layer in range(size.layers):
        shapes |= {
            f"blk.{layer}.attn_norm.weight": (size.width,),
            f"blk.{layer}.ffn_norm.weight": (size.width,),
            f"blk.{layer}.attn_q.weight": (size.width, size.width),
            f"blk.{layer}.attn_k.weight": (head, size.width),
            f"blk.{layer}.attn_v.weight": (head, size.width),
            f"blk.{layer}.attn_output.weight": (size.width, size.width),
            f"blk.{layer}.ffn_gate.weight": (size.inner, size.width),
            f"blk.{layer}.ffn_up.weight": (size.inner, size.width),
            f"blk.{layer}.ffn_down.weight": (size.width, size.inner),
        }
    return {k: rng.normal(1.0 * (len(s) == 1), 0.1, s).astype("f4") for k, s in shapes.items()}


def test_weights_are_quantised_as_llama_cpp_does() -> None:
    matrix = np.random.default_rng(4).normal(size=(16, 64)).astype(np.float32)
    matrix[3, :32] = 0
    expected = gguf.quants.quantize(matrix, gguf.GGMLQuantizationType.Q8_0)
    np.testing.assert_array_equal(quantised(matrix), expected)
    back = restored(quantised(matrix))
    assert np.abs(back - matrix).max() < np.abs(matrix).max() / 127
    np.testing.assert_array_equal(quantised(back), expected)


def test_rows_that_do_not_fit_into_blocks_are_refused() -> None:
    with pytest.raises(ValueError, match="blocks of 32"):
        quantised(np.zeros((2, 40), np.float32))


def test_pieces_are_small_and_come_back_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("demo_pair.learning.weights.PIECE_BYTES", 10_000)
    made = weights(SIZE)
    save_pieces(tmp_path, SIZE, made, {"loss": 1.5})
    pieces = list(tmp_path.glob("weights.*"))
    assert len(pieces) > 4
    assert max(path.stat().st_size for path in pieces) <= 10_000
    size, tensors, about = load_pieces(tmp_path)
    assert (size, about) == (SIZE, {"loss": 1.5})
    np.testing.assert_array_equal(tensors["output_norm.weight"], made["output_norm.weight"])
    np.testing.assert_array_equal(
        tensors["token_embd.weight"], quantised(made["token_embd.weight"])
    )
    (tmp_path / "weights.2").unlink()
    with pytest.raises(ValueError, match="a piece is missing"):
        load_pieces(tmp_path)


def test_the_largest_pair_can_be_moved_in_seven_files() -> None:
    """At most 8 files of 16 MiB, 64 MiB together: pieces, two indexes, and room for a log."""
    gpu = PRESETS["gpu"]
    n_bytes = [run.size.n_params * 34 / 32 for run in (gpu.target, gpu.draft)]
    assert PIECE_BYTES < 16 * MIB
    assert sum(n_bytes) < 63 * MIB
    assert sum(-(-n // PIECE_BYTES) for n in n_bytes) + 2 <= 7


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_presets_make_sense(preset: object) -> None:
    for run in (preset.target, preset.draft):
        size = run.size
        assert size.width % 32 == size.inner % 32 == 0
        assert size.width // size.heads in (32, 48, 64)
        assert size.heads % size.kv_heads == 0
        assert size.n_params == sum(w.size for w in weights(size).values())
    assert preset.draft.size.n_params < preset.target.size.n_params / 2


# --------------------------------------------------------------------------------- the file


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    """Special tokens, single bytes, and the letters of one word joined."""
    letters = sorted(bytes_to_unicode().values())
    entries = [*SPECIAL, *letters, "he", "hel", "helo"]
    model = {"vocab": {each: at for at, each in enumerate(entries)},
             "merges": [["h", "e"], ["he", "l"], "hel o"]}  # fmt: skip
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"model": model}), encoding="utf-8")
    return path


def written(folder: Path, tokenizer: Path, part: str, seed: int) -> Path:
    """A random model as a file."""
    path = folder / f"paceline-demo-{part}-q8_0.gguf"
    save_pieces(folder / part, SIZE, weights(SIZE, seed), {"seconds": 60, "steps": 5, "batch": 2,
                                                           "length": 100})  # fmt: skip
    size, tensors, _ = load_pieces(folder / part)
    write_gguf(path, size, tensors, tokenizer, label_for(part, size))
    return path


@pytest.fixture
def pair(tmp_path: Path, tokenizer: Path) -> tuple[Path, Path]:
    return written(tmp_path, tokenizer, "target", 1), written(tmp_path, tokenizer, "draft", 2)


def test_the_file_says_what_it_is(pair: tuple[Path, Path]) -> None:
    reader = gguf.GGUFReader(pair[0])
    said = {key: field.contents() for key, field in reader.fields.items()}
    assert said["general.architecture"] == "llama"
    assert said["general.name"].startswith("Paceline demo target")
    assert said["general.license"] == "PSF-2.0"
    assert said["tokenizer.chat_template"] == TEMPLATE
    assert said["tokenizer.ggml.tokens"][:3] == list(SPECIAL)
    assert said["tokenizer.ggml.token_type"][:4] == [3, 3, 3, 1]
    assert said["tokenizer.ggml.merges"] == ["h e", "he l", "hel o"]
    assert said["tokenizer.ggml.eos_token_id"] == 2
    assert said["tokenizer.ggml.add_bos_token"] is False
    assert said["llama.attention.head_count_kv"] == 1
    shipped = gguf.GGUFReader(demo_pair()[0])
    missing = {key for key in shipped.fields if not key.startswith("GGUF.")} - said.keys()
    assert not missing


def test_files_load_answer_and_are_measured(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Judge(pair[0], threads=1)
    chats = [asked("signature", "hello", "he"), asked("quote", "a", "b" * 30, "c", "d")]
    loss = judge.loss(chats)
    judge.close()
    assert loss.n_tokens == 2 + 1 + 30 + 1 + 1 + 1 - 1  # `he` is one token; ends count
    assert loss.nats_per_token == pytest.approx(np.log(SIZE.n_vocab), rel=0.3)
    assert loss.nats_per_byte == pytest.approx(loss.nats_per_token * loss.n_tokens / 33)
    with Pair(*pair, threads=1) as engine:
        found = acceptance(engine, workloads_of(chats), (0.0, 0.8))
        assert [(each.workload, each.temperature) for each in found] == [
            ("signature", 0.0), ("quote", 0.0), ("signature", 0.8), ("quote", 0.8),
        ]  # fmt: skip
        assert all(0 <= each.rate <= 1 for each in found)
        said = reply(engine, "hello", most=4).text.strip()
        right = Chat("signature", (("user", "hello"), ("assistant", "no such answer")))
        assert right_answers(engine, [right]) == {"signature": (0, 1)}
        assert said == reply(engine, "hello", most=4).text.strip()


def test_a_pair_that_cannot_be_loaded_is_told(tmp_path: Path) -> None:
    with pytest.raises(EngineRefusedError, match="LoadFailed"), Pair(tmp_path, tmp_path):
        pass


def test_ten_questions() -> None:
    found = questions()
    assert len(found) == 10
    assert "```python\ndef best" in found[-1]


# ------------------------------------------------------------------------- card, evaluation


FOUND = {
    "now": {
        "loss": {part: {name: {"nats_per_byte": 0.1234} for name in ("unseen", "rephrased")}
                 for part in ("target", "draft")},
        "acceptance": [{"workload": "quote", "temperature": 0.0, "rate": 0.5}],
        "right": {"signature": (3, 4)},
        "speeds": {"quote": {"off": 100.0, "auto": 234.0}},
    },
    "before": {},
    "files": {part: {"name": f"{part}.gguf", "bytes": 12_345_678, "params": 9_870_000}
              for part in ("target", "draft")},
    "machine": {"cpu": "A Processor", "threads": 3},
    "same_ids": "2 of 2", "n_judged": 4,
}  # fmt: skip
COUNTS = {"chats": {"learnt": {"explain": 1_000, "find": 234}},
          "tokens": {"learnt": {"tokens": 4_000_000}}}  # fmt: skip
ABOUT = {
    part: {"size": SIZE.to_json(), "about": {"steps": 100, "batch": 8, "length": 1000,
                                            "seconds": 600}}
    for part in ("target", "draft")
}  # fmt: skip


def test_the_card_has_what_was_measured() -> None:
    card = filled_card(FOUND, COUNTS, ABOUT)
    for text in ("12.3 MB", "9.9 million", "0.123", "| quote | 0 | 50% | - |", "A Processor",
                 "| signature | 3 | 4 |", "| quote | 100 | 234 |", "1,234 short chats",
                 "0.8 million (0.2 passes)", "10 minutes"):  # fmt: skip
        assert text in card
    assert "$" not in card
    before = FOUND | {"before": FOUND["now"]}
    assert "0.123 (0.123 before)" in filled_card(before, COUNTS, ABOUT)
    assert "| quote | 0 | 50% | 50% |" in filled_card(before, COUNTS, ABOUT)


def test_a_card_without_measurements_is_refused() -> None:
    incomplete = {k: v for k, v in FOUND.items() if k != "machine"}
    with pytest.raises(KeyError, match="machine"):
        filled_card(incomplete, COUNTS, ABOUT)


def test_other_ids_than_those_learnt_are_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    chats = [asked("quote", "hello", "you")]
    judge = Judge(pair[0], threads=1)
    ids = np.array(judge.ids(chats[0].text()), np.uint16)
    judge.close()
    (tmp_path / "tokens").mkdir()
    path = tmp_path / "tokens" / "unseen.npz"
    Tokens(ids, np.ones(len(ids), bool), np.array([len(ids)])).save(path)
    assert evaluate.same_ids(pair[0], chats, tmp_path) == "1 of 1"
    Tokens(ids[::-1], np.ones(len(ids), bool), np.array([len(ids)])).save(path)
    with pytest.raises(ValueError, match="1 of 1 chats"):
        evaluate.same_ids(pair[0], chats, tmp_path)


# -------------------------------------------------------------------------------------- steps


class Kitchen:
    """Three steps that note what they do."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.done, self.told = folder, [], []
        self.settings = {"a": 1, "b": 2, "c": 3}

    def run(self, only: list[str] | None = None) -> list[str]:
        self.done.clear()
        steps = [
            Step(name, f"does {name}", self.settings[name], [], lambda key, n=name: self.do(n))
            for name in "abc"
        ]
        run_steps(steps, self.folder, only, self.told.append)
        return list(self.done)

    def do(self, name: str) -> None:
        if self.settings[name] is None:
            raise RuntimeError("burnt")
        self.done.append(name)


def test_steps_are_done_once_and_again_when_something_changed(tmp_path: Path) -> None:
    kitchen = Kitchen(tmp_path)
    assert kitchen.run() == ["a", "b", "c"]
    assert kitchen.run() == []
    kitchen.settings["b"] = 5
    assert kitchen.run() == ["b", "c"]
    assert kitchen.told[-1].strip().endswith("s")


def test_a_step_that_failed_is_not_done(tmp_path: Path) -> None:
    kitchen = Kitchen(tmp_path)
    kitchen.settings["b"] = None
    with pytest.raises(RuntimeError, match="burnt"):
        kitchen.run()
    kitchen.settings["b"] = 2
    assert kitchen.run() == ["b", "c"]


def test_only_some_steps(tmp_path: Path) -> None:
    kitchen = Kitchen(tmp_path)
    with pytest.raises(NotMadeError, match="“a”"):
        kitchen.run(["b"])
    assert kitchen.run(["a"]) == ["a"]
    kitchen.settings["a"] = 9  # not looked at
    assert kitchen.run(["b"]) == ["b"]
    mark_done(tmp_path, "c", "made elsewhere", 5)
    assert kitchen.run(["c"]) == ["c"]


# -------------------------------------------------------------------------------- the program


def test_the_programs_show_their_help_without_pytorch(capsys: pytest.CaptureFixture[str]) -> None:
    for program in (make_demo_pair, evaluate):
        with pytest.raises(SystemExit, match="0"):
            program.main(["--help"])
        assert "--folder" in capsys.readouterr().out


def test_options_change_the_preset() -> None:
    options = make_demo_pair.parse(["--gpu", "--minutes", "10", "--batch", "7"])
    preset = make_demo_pair.chosen(options)
    assert (preset.name, preset.target.batch, preset.draft.batch) == ("gpu", 7, 7)
    assert preset.target.minutes + preset.draft.minutes == pytest.approx(10)
    assert make_demo_pair.chosen(make_demo_pair.parse([])) == PRESETS["cpu"]
    assert make_demo_pair.parse(["--only", "target,draft"]).only == ["target", "draft"]


def test_unknown_steps_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        make_demo_pair.main(["--only", "target,drafts"])
    assert "there is no step 'drafts'; there are chats, tokens" in capsys.readouterr().err


def test_missing_libraries_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert make_demo_pair.main([]) == 1
    assert "requirements.txt" in capsys.readouterr().err
