"""The tree of stored states: what is found is what was read, and what is forgotten is gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from fake_model import FakeModel, scripted
from paceline.engine.model.context import CachedContext
from paceline.engine.model.kept_states import KeptStates
from paceline.engine.model.state_files import StateFolder
from paceline.engine.model.stored_states import MIN_BLOCK_TOKENS, Block, StateStore, StateTree
from paceline.files import used_bytes
from paceline.messages import StateOwner

N_BLOCK = 32
ROOM = 1 << 20
OWNERS = tuple(StateOwner(name, private=name > "c") for name in "abcpq")


def text_of(letters: Sequence[int]) -> list[int]:
    """Let each letter stand for half a block, so that texts part within and between blocks."""
    return [token for letter in letters for token in [letter] * (N_BLOCK // 2)]


texts = st.lists(st.integers(65, 67), min_size=1, max_size=7).map(text_of)
owners = st.sampled_from(OWNERS)


class Program:
    """A context that reads one text after the other, with its stored states.

    Attributes:
        read: Owner and tokens of each text read since its start.
    """

    def __init__(self, n_block: int, room: int, files: StateFolder | None) -> None:
        self.model = FakeModel(scripted("x", 0), n_ctx=400, n_block=n_block)
        self.context = CachedContext(self.model)
        self.store = StateStore(room, files)
        self.states = KeptStates(self.context, None, self.store)
        self.read: list[tuple[StateOwner, list[int]]] = []

    def blocks(self) -> Iterator[Block]:
        """Give all blocks that it can find, those in files included."""
        for tree in self.store.trees:
            yield from _below(self.store, tree, tree.root)


def _below(store: StateStore, tree: StateTree, block: Block) -> Iterator[Block]:
    for child in tuple(store.children(tree, block)):
        yield child
        yield from _below(store, tree, child)


class StoredStates(RuleBasedStateMachine):
    """Programs that read texts, beside a list of what may be found again."""

    n_block = N_BLOCK
    room = ROOM
    disk = 0

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(mkdtemp())
        self.started: list[tuple[StateOwner, list[int]]] = []  # by any program, ever
        self.filed: list[tuple[StateOwner, list[int]]] = []
        self.programs = [self.start() for _ in range(2 if self.disk else 1)]
        self.now = self.programs[0]

    def start(self) -> Program:
        files = StateFolder(str(self.folder), self.disk) if self.disk else None
        return Program(self.n_block, self.room, files)

    def teardown(self) -> None:
        rmtree(self.folder)

    @rule(text=texts, owner=owners)
    def ask(self, text: list[int], owner: StateOwner) -> None:
        now, may_see = self.now, lambda who: not who.private or who == owner
        now.states.begin(text, owner, with_draft=False)
        n_held = now.context.reuse(text)
        assert now.model.tokens == now.context.tokens == text[:n_held]
        seen = [t for who, t in now.read if may_see(who)]
        seen += [t for who, t in self.started if not who.private and self.disk]
        most = max((_n_same(t, text) for t in seen), default=0)
        assert n_held <= most, "nothing that was not read, or is another's alone"
        if self.room >= ROOM and self.n_block:
            least = max((_n_stored(t, text) for who, t in now.read if may_see(who)), default=0)
            if self.disk >= ROOM:
                filed = (_n_same(t[: _whole(t)], text) for _, t in self.filed)
                least = max(least, *filed, 0)
            assert n_held >= min(least, len(text) - 1)
        now.context.prefill(text, 512)
        now.states.end()
        now.read.append((owner, text))
        self.started.append((owner, text))

    @rule()
    def idle(self) -> None:
        while self.now.states.slice():
            pass
        self.filed += [(who, text) for who, text in self.now.read[-1:] if not who.private]

    @rule(owner=owners)
    def forget(self, owner: StateOwner) -> None:
        for program in self.programs:  # each is notified of the deletion
            program.states.forget((owner.name,))
            program.read = [(who, text) for who, text in program.read if who != owner]
            if program.states.owner is None:
                assert not program.context.tokens
        self.started, self.filed = (
            [(who, text) for who, text in texts if who != owner]
            for texts in (self.started, self.filed)
        )

    @precondition(lambda self: self.disk)
    @rule()
    def switch(self) -> None:
        """Let the other program go on."""
        self.now = self.programs[1 - self.programs.index(self.now)]

    @precondition(lambda self: self.disk)
    @rule()
    def leave(self) -> None:
        """End the current program, and start another one in its place."""
        self.now.states.close()
        if self.room >= ROOM:
            self.filed += [(who, text) for who, text in self.now.read if not who.private]
        self.kill()

    @precondition(lambda self: self.disk)
    @rule()
    def kill(self) -> None:
        """Replace the current program, which writes nothing more, by another one."""
        place = self.programs.index(self.now)
        self.now = self.programs[place] = self.start()

    @invariant()
    def memory_is_counted(self) -> None:
        for program in self.programs:
            held = [block for tree in program.store.trees for block in tree.root.descendants()]
            assert program.store.n_bytes == sum(len(block.data or b"") for block in held)
            assert program.store.n_bytes <= self.room

    @invariant()
    def files_are_counted(self) -> None:
        assert used_bytes(self.folder) <= self.disk

    @invariant()
    def nothing_is_left_of_what_was_forgotten(self) -> None:
        for program in (*self.programs, self.start()) if self.disk else self.programs:
            if not program.store.trees:  # it looks at the files alone
                program.states.begin([1], None, with_draft=False)
                program.states.begin([1], StateOwner("z"), with_draft=False)
            for block in program.blocks():
                whole = [t for each in reversed(list(block.line())) for t in each.tokens]
                for name in block.owners or {block.only_for}:
                    texts = [text for who, text in self.started if who.name == name]
                    assert any(text[: len(whole)] == whole for text in texts)
                assert not block.only_for or not block.is_filed

    @invariant()
    def folders_are_of_those_whose_text_was_read(self) -> None:
        names = {who.name for who, _ in self.started if not who.private}
        files = (file for file in self.folder.rglob("*") if file.is_file())
        assert {bytes.fromhex(file.parent.name).decode() for file in files} <= names


def _n_same(a: Sequence[int], b: Sequence[int]) -> int:
    return next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )


def _whole(text: Sequence[int]) -> int:
    """Tokens of a text that are in whole blocks, but for the last one."""
    return len(text) // N_BLOCK * N_BLOCK


def _n_stored(text: Sequence[int], wanted: Sequence[int]) -> int:
    """Tokens of a text that was kept which another one begins with."""
    end = len(text) % N_BLOCK
    return _n_same(text[: len(text) - end] if end < MIN_BLOCK_TOKENS else text, wanted)


def test_a_long_text_is_forgotten_as_a_whole() -> None:
    store = StateStore(ROOM)
    tree = store.tree("a model", MIN_BLOCK_TOKENS)
    end = tree.root
    for token in range(1500):
        end = tree.add(end, [token] * MIN_BLOCK_TOKENS, b"cells", OWNERS[0])
    assert store.n_bytes == 1500 * len(b"cells")
    store.forget(OWNERS[0].name)
    assert store.n_bytes == 0
    assert not tree.root.children


def test_a_private_text_hides_no_longer_one_that_begins_alike() -> None:
    store = StateStore(ROOM)
    tree = store.tree("a model", N_BLOCK)
    first, second = [65] * N_BLOCK, [66] * N_BLOCK
    tree.add(tree.root, first, b"cells", StateOwner("p", private=True))
    tree.add(tree.add(tree.root, first, b"cells", OWNERS[0]), second, b"cells", OWNERS[0])
    assert tree.find([*first, *second], "p").n_tokens == 2 * N_BLOCK


TestStoredStates = StoredStates.TestCase
TestStoredStates.settings = settings(stateful_step_count=25)


class ShortOfRoom(StoredStates):
    room = 900


class WholeStates(StoredStates):
    n_block = 0


class InFiles(StoredStates):
    disk = ROOM


class ShortOfRoomInFiles(InFiles):
    room = 900
    disk = 2_500


class WholeStatesInFiles(InFiles):
    n_block = 0


TestShortOfRoom = ShortOfRoom.TestCase
TestShortOfRoom.settings = TestStoredStates.settings
TestWholeStates = WholeStates.TestCase
TestWholeStates.settings = TestStoredStates.settings
TestInFiles = InFiles.TestCase
TestInFiles.settings = TestStoredStates.settings
TestShortOfRoomInFiles = ShortOfRoomInFiles.TestCase
TestShortOfRoomInFiles.settings = TestStoredStates.settings
TestWholeStatesInFiles = WholeStatesInFiles.TestCase
TestWholeStatesInFiles.settings = TestStoredStates.settings
