"""The tree of stored states: what is found is what was read, and what is forgotten is gone."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from fake_model import FakeModel, scripted
from paceline.engine.model.context import CachedContext
from paceline.engine.model.kept_states import KeptStates
from paceline.engine.model.stored_states import SHORTEST, StateStore
from paceline.messages import StateOwner

N_BLOCK = 32
ROOM = 1 << 20
OWNERS = tuple(StateOwner(name, private=name > "c") for name in "abcpq")


def text_of(letters: Sequence[int]) -> list[int]:
    """Let each letter stand for half a block, so that texts part within and between blocks."""
    return [token for letter in letters for token in [letter] * (N_BLOCK // 2)]


texts = st.lists(st.integers(65, 67), min_size=1, max_size=7).map(text_of)
owners = st.sampled_from(OWNERS)


class StoredStates(RuleBasedStateMachine):
    """A context that holds one text after the other, beside a list of what may be found again."""

    n_block = N_BLOCK
    room = ROOM

    def __init__(self) -> None:
        super().__init__()
        self.model = FakeModel(scripted("x", 0), n_ctx=400, n_block=self.n_block)
        self.context = CachedContext(self.model)
        self.store = StateStore(self.room)
        self.states = KeptStates(self.context, None, self.store)
        self.read: list[tuple[StateOwner, list[int]]] = []

    @rule(text=texts, owner=owners)
    def ask(self, text: list[int], owner: StateOwner) -> None:
        seen = [t for who, t in self.read if not who.private or who == owner]
        self.states.begin(text, owner, with_draft=False)
        n_held = self.context.reuse(text)
        assert self.model.tokens == self.context.tokens == text[:n_held]
        most = max((_n_same(t, text) for t in seen), default=0)
        assert n_held <= most, "nothing that was not read, or is another's alone"
        if self.room >= ROOM and self.n_block:
            least = max((_n_stored(t, text) for t in seen), default=0)
            assert n_held >= min(least, len(text) - 1)
        self.context.prefill(text, 512)
        self.states.end()
        self.read.append((owner, text))

    @rule()
    def idle(self) -> None:
        while self.states.slice():
            pass

    @rule(owner=owners)
    def forget(self, owner: StateOwner) -> None:
        self.states.forget((owner.name,))
        self.read = [(who, text) for who, text in self.read if who != owner]
        if self.states.owner is None:
            assert not self.context.tokens

    @invariant()
    def memory_is_counted(self) -> None:
        held = [block for tree in self.store.trees for block in tree.root.descendants()]
        assert self.store.n_bytes == sum(len(block.data or b"") for block in held)
        assert self.store.n_bytes <= self.room

    @invariant()
    def nothing_is_left_of_what_was_forgotten(self) -> None:
        for tree in self.store.trees:
            for block in tree.root.descendants():
                whole = [t for each in reversed(list(block.line())) for t in each.tokens]
                for name in block.owners or {block.only_for}:
                    texts = [text for who, text in self.read if who.name == name]
                    assert any(text[: len(whole)] == whole for text in texts)


def _n_same(a: Sequence[int], b: Sequence[int]) -> int:
    return next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )


def _n_stored(text: Sequence[int], wanted: Sequence[int]) -> int:
    """Tokens of a text that was kept which another one begins with."""
    end = len(text) % N_BLOCK
    return _n_same(text[: len(text) - end] if end < SHORTEST else text, wanted)


def test_a_long_text_is_forgotten_as_a_whole() -> None:
    store = StateStore(ROOM)
    tree = store.tree("a model", SHORTEST)
    end = tree.root
    for token in range(1500):
        end = tree.add(end, [token] * SHORTEST, b"cells", OWNERS[0])
    assert store.n_bytes == 1500 * len(b"cells")
    store.forget(OWNERS[0].name)
    assert store.n_bytes == 0
    assert not tree.root.children


TestStoredStates = StoredStates.TestCase
TestStoredStates.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


class ShortOfRoom(StoredStates):
    room = 900


class WholeStates(StoredStates):
    n_block = 0


TestShortOfRoom = ShortOfRoom.TestCase
TestShortOfRoom.settings = TestStoredStates.settings
TestWholeStates = WholeStates.TestCase
TestWholeStates.settings = TestStoredStates.settings
