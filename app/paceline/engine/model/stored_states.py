"""Stored states: what contexts held of texts that were read, found again by their tokens.

A text is cut into blocks of a fixed number of tokens, and what the cells of a block hold is stored
once, in a tree: each block comes after the one before it. Texts that begin alike share blocks, and
the longest beginning that is stored is found from the root on, whatever chat or program it came
from. A text's last block is shorter. Where a memory cannot be cut (`LanguageModel.n_block` is 0),
a block is all that the context held, and serves only a text that goes on after all of it.

Blocks are held in memory up to a number of bytes, and in files where a store has some
(`state_files`). What was used longest ago goes first, the end of a text before its beginning.

Everything here belongs to the engine's thread.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple, Protocol

from paceline.engine.model.tokens import common_prefix
from paceline.messages import StateOwner

SHORTEST = 16
"""Tokens of a block at least: fewer are read again in no time."""


class Block:
    """The cells of some tokens, after those of the blocks before it.

    Attributes:
        tokens: Their ids.
        parent: The block before it; the root of its tree has none.
        name: A digest of the model, of the tokens before it and its own.
        data: What its cells hold; None: it is in its file alone.
        is_filed: Whether it has a file.
        owners: The names of those whose texts hold all of its tokens; none for a private one.
        only_for: Name of the owner that it serves alone, as it came of a private text; empty: any.
        used: Grows with each use; a parent's is never below its children's.
        version: Of the files (`StateFiles.version`) whose blocks are among its children.
    """

    __slots__ = (
        "children", "data", "is_filed", "n_bytes", "name", "only_for", "owners", "parent",
        "tokens", "used", "version",
    )  # fmt: skip

    def __init__(
        self, parent: Block | None, tokens: Sequence[int], name: str, only_for: str = ""
    ) -> None:
        self.parent = parent
        self.tokens = list(tokens)
        self.name = name
        self.data: bytes | bytearray | None = None
        self.n_bytes = 0
        self.is_filed = False
        self.owners: set[str] = set()
        self.only_for = only_for
        self.used = self.version = 0
        self.children: list[Block] = []

    def line(self) -> Iterator[Block]:
        """Return this block and those before it, the last one first, without the root."""
        block = self
        while block.parent is not None:
            yield block
            block = block.parent

    def descendants(self) -> Iterator[Block]:
        """Return the blocks after it, and those after them; the last ones first."""
        found = list(self.children)
        for block in found:  # which grows; a text of 100,000 tokens is too deep for recursion
            found += block.children
        return reversed(found)


class StateFiles(Protocol):
    """Keeps blocks in files; every method takes what goes wrong upon itself and loses warmth.

    Attributes:
        version: Another one after files have come or gone.
    """

    version: int

    def refresh(self) -> None:
        """Look which files there are now, since other programs write and delete, too."""

    def has(self, tree: StateTree, block: Block) -> bool:
        """Return whether a block had a file at the last look."""

    def has_given_way(self, tree: StateTree, block: Block) -> bool:
        """Return whether a block's file was deleted here to make room for others."""

    def after(self, tree: StateTree, parent: Block) -> Mapping[str, set[str]]:
        """Return the names of the blocks after one, each with its owners, as of the last look."""

    def tokens(self, tree: StateTree, parent: Block, name: str) -> list[int] | None:
        """Return the tokens of a block after another one; None: its file is gone or wrong."""

    def read(self, tree: StateTree, block: Block) -> bytes | None:
        """Return what a block's cells hold; None: the file is gone or wrong, and was removed."""

    def write(self, tree: StateTree, block: Block) -> bool:
        """Write a block with its owners, or its owners alone where it is there; False: it cannot.

        Older files go where the limit asks for it.
        """

    def use(self, tree: StateTree, blocks: Iterable[Block]) -> None:
        """Note that blocks are in use, so that they do not give way to others."""

    def remove(self, tree: StateTree, block: Block) -> None:
        """Delete a block's file."""

    def forget(self, owner: str) -> None:
        """Delete what is an owner's alone, for all models; empty: everything."""


class StoredPrefix(NamedTuple):
    """The longest stored beginning of a text.

    Attributes:
        blocks: The blocks in their order; of the last one perhaps only a part is of use.
        n_tokens: How many tokens of the text are in them.
    """

    blocks: tuple[Block, ...]
    n_tokens: int


class StateTree:
    """The stored states of one model with its settings.

    Args:
        store: Counts the bytes of all trees.
        key: Names model, build, settings and processor: states of another key are not used.
        n_block: Tokens of a block; 0: a block is all that a context held.

    Attributes:
        version: Of the files (`StateFiles.version`) that its blocks were last compared with.
    """

    def __init__(self, store: StateStore, key: str, n_block: int) -> None:
        self.key = key
        self.n_block = n_block
        self.root = Block(None, (), hashlib.sha256(key.encode()).hexdigest()[:32])
        self.version = 0
        self._store = store

    def name_after(self, parent: Block, tokens: Sequence[int], only_for: str = "") -> str:
        """Return the name of the block of these tokens after a parent."""
        digest = hashlib.sha256(parent.name.encode())
        digest.update(array("i", tokens).tobytes())
        digest.update(only_for.encode())
        return digest.hexdigest()[:32]

    def find(self, tokens: Sequence[int], owner: str) -> StoredPrefix:
        """Return the longest stored beginning of a text that may serve this owner."""
        best, n_best, ways = self.root, 0, [(self.root, 0)]
        for block, done in ways:  # which grows: a private text may begin as one of all does
            same: list[tuple[int, Block]] = []
            for child in self._store.children(self, block):
                if child.only_for in ("", owner):
                    n = len(child.tokens)
                    n_same = common_prefix(child.tokens, tokens[done : done + n])
                    if n_same == len(child.tokens) or self.n_block > 0:
                        same.append((n_same, child))
            most = max((n for n, _ in same), default=0)
            for child in (child for n, child in same if n == most > 0):
                if done + most > n_best:
                    best, n_best = child, done + most
                if most == len(child.tokens) == self.n_block:
                    ways.append((child, done + most))
        return StoredPrefix(tuple(best.line())[::-1], n_best)

    def missing(self, tokens: Sequence[int], owner: StateOwner) -> tuple[Block, int, int] | None:
        """Return which part of a text is to be stored next, if one is.

        What is there already counts as used, and as this owner's, too.

        Returns:
            The block before it, its first place and its number of tokens; None: all is stored.
        """
        seen = ("", owner.name) if owner.private else ("",)
        block, done, rest = self.root, 0, len(tokens)
        while rest >= SHORTEST:
            n = min(self.n_block or rest, rest)
            wanted = tokens[done : done + n]
            children = self._store.children(self, block)
            same = (c for c in children if c.only_for in seen and c.tokens == wanted)
            child = next(same, None)
            if child is None:
                return block, done, n
            if not owner.private and owner.name not in child.owners:
                child.owners.add(owner.name)
                self._store.note_owners(self, child)
            block, done, rest = child, done + n, rest - n
        self._store.touch(block)
        return None

    def add(
        self, parent: Block, tokens: Sequence[int], data: bytes | bytearray, owner: StateOwner
    ) -> Block:
        """Store a block after its parent; see `missing`."""
        only_for = owner.name if owner.private else ""
        block = Block(parent, tokens, self.name_after(parent, tokens, only_for), only_for)
        if not owner.private:
            block.owners.add(owner.name)
        parent.children.append(block)
        for other in tuple(parent.children):
            is_shorter = len(other.tokens) < len(block.tokens) and self.n_block > 0
            is_beginning = is_shorter and other.tokens == block.tokens[: len(other.tokens)]
            if is_beginning and other.owners <= block.owners and other.only_for == only_for:
                self.remove(other)  # the end of the same text, which grew
        self._store.hold(self, block, data)
        return block

    def remove(self, block: Block, *, keeps_files: bool = False) -> None:
        """Forget a block and those after it, in memory and, unless files are kept, on disk."""
        for gone in (*block.descendants(), block):
            self._store.let_go(self, gone, keeps_file=keeps_files)
        if block.parent is not None and block in block.parent.children:
            block.parent.children.remove(block)

    def forget(self, owner: str = "") -> None:
        """Forget what is this owner's alone, but in files; empty: everything."""
        for block in tuple(self.root.descendants()):
            if owner and owner in block.owners and len(block.owners) > 1:
                block.owners.discard(owner)
            elif not owner or owner == block.only_for or owner in block.owners:
                self.remove(block, keeps_files=True)


class StateStore:
    """The stored states of a pair's models, in memory up to `most_bytes`, and in files.

    Attributes:
        n_bytes: What is held in memory.
    """

    def __init__(self, most_bytes: int, files: StateFiles | None = None) -> None:
        self.most_bytes = most_bytes
        self.n_bytes = 0
        self._files = files
        self._clock = 0
        self._held: dict[Block, StateTree] = {}
        self._unfiled: dict[Block, StateTree] = {}
        self.trees: list[StateTree] = []

    def tree(self, key: str, n_block: int) -> StateTree:
        """Return the tree for a model; it knows what files hold for this key."""
        tree = next((tree for tree in self.trees if tree.key == key), None)
        if tree is None:
            tree = StateTree(self, key, n_block)
            self.trees.append(tree)
            self.refresh()
        return tree

    def refresh(self) -> None:
        """Let the trees know what other programs have filed since, and forget what they deleted."""
        if self._files is None:
            return
        self._files.refresh()
        for tree in self.trees:
            if tree.version != self._files.version:
                tree.version = self._files.version
                self._forget_deleted(tree, self._files)

    @staticmethod
    def _forget_deleted(tree: StateTree, files: StateFiles) -> None:
        for block in tuple(tree.root.descendants()):
            if block.is_filed and not files.has(tree, block):
                block.is_filed = False
                if block.data is None or not files.has_given_way(tree, block):
                    tree.remove(block)

    def children(self, tree: StateTree, parent: Block) -> Sequence[Block]:
        """Return the blocks after one; those in files are looked up first."""
        if self._files is not None and parent.version != self._files.version:
            parent.version = self._files.version
            known = {child.name: child for child in parent.children}
            for name, owners in self._files.after(tree, parent).items():
                block = known.get(name)
                if block is None:
                    tokens = self._files.tokens(tree, parent, name)
                    if tokens is None:
                        continue
                    block = Block(parent, tokens, name)
                    parent.children.append(block)
                if block.owners <= owners:
                    self._unfiled.pop(block, None)
                block.is_filed = True
                block.owners |= owners
        return parent.children

    def use(self, tree: StateTree, blocks: Iterable[Block]) -> None:
        """Note that the blocks of a text are in use."""
        if self._files is not None:
            self._files.use(tree, blocks)

    def data(self, tree: StateTree, block: Block) -> bytes | bytearray | None:
        """Return what a block's cells hold; None: it is nowhere any more, and was forgotten."""
        self.touch(block)
        if block.data is None:
            found = self._files.read(tree, block) if self._files and block.is_filed else None
            if found is None:
                block.is_filed = False
                tree.remove(block)
                return None
            self.hold(tree, block, found)
            return found  # it may have found no room in memory
        return block.data

    def touch(self, block: Block) -> None:
        """Note that a block and those before it are in use."""
        for each in block.line():  # so that the end of a text goes before its beginning
            self._clock += 1
            each.used = self._clock

    def hold(self, tree: StateTree, block: Block, data: bytes | bytearray) -> None:
        """Hold a block in memory, as long as there is room."""
        block.data, block.n_bytes = data, len(data)
        self.n_bytes += len(data)
        self._held[block] = tree
        if self._files is not None and not block.is_filed and not block.only_for:
            self._unfiled[block] = tree
        self.touch(block)
        while self.n_bytes > self.most_bytes and self._held:
            oldest = min(self._held, key=lambda held: held.used)
            self._drop(self._held[oldest], oldest)

    def _drop(self, tree: StateTree, block: Block) -> None:
        """Hold a block no longer in memory: in its file alone, or not at all."""
        if block in self._unfiled:
            self._file(block)
        if block.is_filed:
            self._release(block)
        else:
            tree.remove(block)

    def _release(self, block: Block) -> None:
        if self._held.pop(block, None) is not None:
            self.n_bytes -= block.n_bytes
        block.data = None

    def let_go(self, tree: StateTree, block: Block, *, keeps_file: bool) -> None:
        """Hold a block nowhere any more; its tree forgets it."""
        self._unfiled.pop(block, None)
        self._release(block)
        if block.is_filed and self._files is not None and not keeps_file:
            block.is_filed = False
            self._files.remove(tree, block)

    def note_owners(self, tree: StateTree, block: Block) -> None:
        """Have the owners of a block written where it has a file."""
        if block.is_filed:
            self._unfiled[block] = tree

    def file_one(self, *, wants_ends: bool = False) -> bool:
        """Write the block that was used last and waits for it; False: none waits.

        Args:
            wants_ends: Whether blocks are written, too, that the text may take the place of when
                it grows.
        """
        waiting = (
            (block.used, block)
            for block, tree in self._unfiled.items()
            if wants_ends or len(block.tokens) == tree.n_block
        )
        found = max(waiting, default=None, key=itemgetter(0))
        if found is not None:
            self._file(found[1])
        return found is not None

    def _file(self, block: Block) -> None:
        tree = self._unfiled.pop(block)
        if self._files is not None:
            block.is_filed = self._files.write(tree, block)

    def forget(self, owner: str = "") -> None:
        """Forget what is this owner's alone in all trees and files; empty: everything."""
        for block in tuple(self._unfiled):
            if owner and block.is_filed and len(block.owners) > 1:  # it stays for the others
                self._file(block)
        for tree in self.trees:
            tree.forget(owner)
        if self._files is not None:
            self._files.forget(owner)
