"""The demo pair's recipe: networks and training. Needs PyTorch, which nothing else here does."""

# ruff: noqa: E402 - the imports need what is asked for before them

from __future__ import annotations

import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs packaging/demo_pair/requirements.txt")
pytest.importorskip("tokenizers", reason="needs packaging/demo_pair/requirements.txt")


from demo_pair import make_demo_pair
from demo_pair.chats.chat import SPECIAL, asked
from demo_pair.corpus.sources import INSTALLED
from demo_pair.learning import by_products, in_parts, precision
from demo_pair.learning.batches import Batches
from demo_pair.learning.judged import judged
from demo_pair.learning.losses import accepted_share, distillation_loss, next_token_loss
from demo_pair.learning.network import Network, blocks_within, seen_within
from demo_pair.learning.packing import Rows, pack
from demo_pair.learning.sizes import PRESETS, Run, Size, with_minutes
from demo_pair.learning.tokenizer import encode_chats, train_tokenizer
from demo_pair.learning.tokens import Tokens
from demo_pair.learning.training import PausedError, Training
from demo_pair.learning.weights import save_pieces
from demo_pair.recipe import Options, Recipe

SIZE = Size(32, 2, 2, 1, 64, n_vocab=40)
CPU = torch.device("cpu")


def counting(n: int = 30, n_each: int = 10) -> Tokens:
    """Chats that count upwards: easily learnt."""
    rng = np.random.default_rng(n_each)
    chats = [np.arange(start, start + n_each) % 37 + 3 for start in rng.integers(0, 37, n)]
    said = np.tile(np.arange(n_each) > 3, n)
    return Tokens(np.concatenate(chats).astype(np.uint16), said, n_each * np.arange(1, n + 1))


def rows(n: int = 30, length: int = 32) -> Rows:
    return pack(counting(n), length, seed=1)


def rows_of_two_lengths() -> list[Rows]:
    return [rows(32, 16), pack(counting(12, 40), 64, seed=1)]


def quiet(_line: str) -> None:
    pass


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def test_chats_of_one_row_do_not_see_each_other() -> None:
    torch.manual_seed(1)
    network = Network(SIZE).eval()
    ids = torch.randint(3, 40, (1, 12))
    chat = torch.tensor([[1] * 5 + [2] * 7])
    together = network(ids, seen_within(chat))
    alone = network(ids[:, 5:], seen_within(chat[:, 5:]))
    torch.testing.assert_close(together[:, 5:], alone, atol=1e-5, rtol=1e-5)
    changed = ids.clone()
    changed[0, 11] = (ids[0, 11] + 1) % 40
    after = network(changed, seen_within(chat))
    torch.testing.assert_close(after[:, :11], together[:, :11])
    assert not torch.allclose(after[:, 11], together[:, 11])


@pytest.mark.filterwarnings("ignore")
def test_attention_by_blocks_is_the_same() -> None:
    torch.manual_seed(2)
    network = Network(Size(64, 1, 4, 2, 64, n_vocab=40)).eval()
    ids = torch.randint(0, 40, (2, 128))
    chat = (torch.arange(128) // 50).repeat(2, 1)
    with torch.no_grad():
        by_mask = network(ids, seen_within(chat))
        by_blocks = network(ids, blocks_within(chat))
    torch.testing.assert_close(by_blocks, by_mask, atol=1e-5, rtol=1e-5)


def test_batches_give_every_row_once_per_pass() -> None:
    some = rows()
    batches = Batches(some, 2, CPU, seed=3)
    seen = [tuple(row) for step in range(len(batches)) for row in batches.at(step).ids.tolist()]
    assert len(seen) == len(set(seen)) == 2 * len(batches)
    first = batches.at(0)
    again = Batches(some, 2, CPU, seed=3).at(0)
    assert torch.equal(first.ids, again.ids)
    assert not torch.equal(first.ids, batches.at(len(batches)).ids)


def test_batches_of_all_lengths_have_as_many_places_and_come_mixed() -> None:
    some = rows_of_two_lengths()
    batches = Batches(some, 1, CPU, seed=3)
    orders = []
    for number in range(2):
        found = [batches.at(number * len(batches) + at).ids for at in range(len(batches))]
        assert {tuple(ids.shape) for ids in found} == {(4, 16), (1, 64)}
        for kind in some:
            length = kind.ids.shape[1]
            seen = [tuple(row) for ids in found if ids.shape[1] == length for row in ids.tolist()]
            assert sorted(seen) == sorted(map(tuple, kind.ids.tolist()))
        orders.append([ids.shape[1] for ids in found])
    assert batches.tokens == 64
    assert orders[0] != orders[1]
    assert orders[0] != sorted(orders[0])
    assert [batch.ids.shape[1] for batch in batches.of_each_length()] == [16, 64]


def test_what_is_wanted_stands_behind_its_place() -> None:
    batch = Batches(rows(), 3, CPU, seed=4).at(1)
    following = torch.roll(batch.ids, -1, 1)[batch.before]
    assert torch.equal(following.long(), batch.wanted)
    assert len(batch.wanted) > 20


@pytest.mark.parametrize("n", [20, by_products._PLACES + 30])
def test_attention_by_products_is_the_same(n: int) -> None:
    torch.manual_seed(6)
    chat = (torch.arange(n) // 13).repeat(2, 1)
    q, k, v = (torch.randn(2, heads, n, 8, requires_grad=True) for heads in (4, 2, 2))
    seen = seen_within(chat)
    found = by_products.attention_by_products(q, k, v, seen)
    each = [part.repeat_interleave(2, 1) for part in (k, v)]
    wanted = torch.nn.functional.scaled_dot_product_attention(q, *each, attn_mask=seen)
    torch.testing.assert_close(found, wanted)
    by_values = torch.randn_like(found)
    gradients = [torch.autograd.grad(values, (q, k, v), by_values) for values in (found, wanted)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_a_loss_in_parts_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_parts, "PART", 7)
    torch.manual_seed(7)
    hidden, matrix = torch.randn(17, 8, requires_grad=True), torch.randn(40, 8, requires_grad=True)
    wanted = torch.randint(0, 40, (17,))
    found = in_parts.loss_in_parts(
        hidden, matrix, lambda logits, part: next_token_loss(logits, wanted[part])
    )
    whole = next_token_loss(hidden @ matrix.t(), wanted)
    torch.testing.assert_close(found, whole)
    gradients = [torch.autograd.grad(3 * loss, (hidden, matrix)) for loss in (found, whole)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_distillation() -> None:
    torch.manual_seed(5)
    teacher, student = torch.randn(50, 20), torch.randn(50, 20)
    assert float(distillation_loss(teacher, teacher, 0.5)) == pytest.approx(0, abs=1e-6)
    drawn, _ = accepted_share(student, teacher)
    variation = float(distillation_loss(student, teacher, 1.0))
    assert drawn == pytest.approx(1 - variation, abs=1e-5)
    half = float(distillation_loss(student, teacher, 0.5))
    assert float(distillation_loss(student, teacher, torch.tensor(0.5))) == pytest.approx(half)
    p, q = teacher.softmax(-1), student.softmax(-1)
    divergence = float((p * (p / q).log()).sum(-1).mean())
    assert float(distillation_loss(student, teacher, 0.0)) == pytest.approx(divergence, rel=1e-4)
    assert accepted_share(teacher, teacher) == (pytest.approx(1), 1.0)


def test_training_learns_and_a_draft_follows(tmp_path: Path) -> None:
    some = rows()
    told: list[str] = []
    run = Run(SIZE, steps=150, batch=4, rate=1e-2)
    training = Training(run, some, tmp_path / "target", tell=told.append)
    before = judged(training.network, some)["loss"]
    training.go()
    after = judged(training.network, some)["loss"]
    assert before > 3.4
    assert after < 0.3
    assert "loss" in told[-1]
    small = Run(Size(32, 1, 1, 1, 32, n_vocab=40), steps=150, batch=4, rate=1e-2)
    draft = Training(small, some, tmp_path / "draft", teacher=training.network, tell=quiet)
    draft.go()
    found = judged(draft.network, some, training.network)
    assert found["accepted_greedy"] > 0.9
    assert found["accepted_drawn"] > 0.8


@pytest.mark.parametrize(("narrow_s", "is_faster"), [(0.2, True), (0.9, False), (3.0, False)])
def test_bfloat16_is_taken_where_it_is_much_faster(
    narrow_s: float, is_faster: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = {torch.float32: 1.0, torch.bfloat16: narrow_s}
    monkeypatch.setattr(precision, "_seconds", seconds.__getitem__)
    assert precision.is_narrow_faster(CPU) is is_faster


def test_training_learns_in_bfloat16(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demo_pair.learning.training.is_narrow_faster", lambda _device: True)
    some = rows()
    training = Training(Run(SIZE, 150, batch=4, rate=1e-2), some, tmp_path / "wide", tell=quiet)
    training.go()
    assert judged(training.network, some)["loss"] < 0.3


def test_training_goes_on_without_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **_more: object) -> None:
        raise RuntimeError("no compiler here")

    monkeypatch.setattr("demo_pair.learning.training.WORTH_COMPILING", 0)
    monkeypatch.setattr(torch, "compile", refuse)
    told: list[str] = []
    training = Training(Run(SIZE, 3, batch=4, rate=1e-2), rows(), tmp_path / "a", tell=told.append)
    training.go()
    assert training.progress == 1
    assert any("no compiler here" in line for line in told)


def test_memory_is_kept_where_there_is_glibc() -> None:
    code = "from demo_pair.learning.memory import keep_memory; print(keep_memory())"
    place = Path(__file__).resolve().parents[2] / "packaging"
    # A process of its own, which alone keeps its memory.
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=place, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(platform.libc_ver()[0] == "glibc")


@pytest.mark.parametrize("make_rows", [rows, rows_of_two_lengths])
def test_interrupted_training_ends_as_if_it_was_not(
    make_rows: Callable[[], Rows | list[Rows]], tmp_path: Path
) -> None:
    some = make_rows()
    run = Run(SIZE, steps=12, batch=1, rate=1e-2)
    whole = Training(run, some, tmp_path / "whole", tell=quiet)
    whole.go()
    parts = Training(run, some, tmp_path / "parts", tell=quiet)
    n_parts = 0
    while parts.progress < 1:
        with pytest.raises(PausedError):
            parts.go(pause_at_s=time.monotonic())  # after one step
        parts = Training(run, some, tmp_path / "parts", tell=quiet)
        n_parts += 1
    assert n_parts == 12
    for one, other in zip(whole.network.parameters(), parts.network.parameters(), strict=True):
        torch.testing.assert_close(one, other)


def test_training_ends_with_its_minutes(tmp_path: Path) -> None:
    run = Run(SIZE, steps=1_000_000, batch=4, rate=1e-2, minutes=0.01)
    training = Training(run, rows(), tmp_path / "some", tell=quiet)
    training.go()
    assert training.progress == 1
    assert 0 < training.step < 1_000_000


def test_the_tokenizer_has_special_tokens_first_and_digits_alone() -> None:
    chats = [asked("quote", f"number {n} of name_{n}.join()", "It is.") for n in range(300)]
    tokenizer = train_tokenizer((chat.text() for chat in chats), 300)
    assert [tokenizer.id_to_token(n) for n in range(3)] == list(SPECIAL)
    assert len(tokenizer.encode("2024").ids) == 4
    tokens = encode_chats(tokenizer, chats)
    ends = [0, *tokens.ends]
    first = slice(ends[0], ends[1])
    assert tokenizer.decode(tokens.ids[first][tokens.said[first]].tolist()) == "It is."
    assert (
        tokenizer.decode(tokens.ids[first].tolist(), skip_special_tokens=False) == chats[0].text()
    )
    with pytest.raises(ValueError, match="give more"):
        train_tokenizer(["few"], 1_000)


def test_weights_that_were_trained_elsewhere_are_taken(tmp_path: Path) -> None:
    elsewhere, here = tmp_path / "elsewhere", tmp_path / "here"
    preset = with_minutes(PRESETS["quick"], 10)
    for part, run in (("target", preset.target), ("draft", preset.draft)):
        weights = {k: w.detach().numpy() for k, w in Network(run.size).named_parameters()}
        save_pieces(elsewhere / part, run.size, weights, {"key": f"key of {part}", "seconds": 5})
    recipe = Recipe(preset, tmp_path, here, Options(tmp_path), quiet)
    assert tuple(step.name for step in recipe.steps()) == make_demo_pair.STEPS
    recipe.take(elsewhere)
    assert recipe.network("draft").size == preset.draft.size
    assert "key of target" in (here / "done" / "target.json").read_text(encoding="utf-8")
    assert preset.target.minutes + preset.draft.minutes == pytest.approx(10)


@pytest.mark.long
@pytest.mark.skipif(not INSTALLED.is_dir(), reason="needs Debian's package python3.11-doc")
def test_the_whole_recipe_makes_a_pair_that_loads(tmp_path: Path) -> None:
    """Some minutes; the limit is that of a machine which is busy with other tests."""
    pytest.importorskip("llama_cpp")
    began = time.monotonic()
    for _ in range(2):  # the second time nothing is left to do
        arguments = ["--quick", "--folder", str(tmp_path), "--paceline", sys.executable]
        assert make_demo_pair.main(arguments) == 0
    assert time.monotonic() - began < 600
    card = (tmp_path / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert "paceline-demo-target-q8_0.gguf" in card
    assert len((tmp_path / "answers.md").read_text(encoding="utf-8")) > 500
