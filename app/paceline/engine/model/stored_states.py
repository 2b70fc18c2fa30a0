"""Stored states: the content of contexts after reading texts, found again by the texts' tokens.

A text is cut into blocks of a fixed number of tokens, and the content of a block's cells is stored
once, in a tree: each block follows the one before it. Texts with a common beginning share blocks,
and the longest stored prefix is found from the root on, whatever chat or program it came from. A
text's last block is shorter. Where a memory cannot be cut (`LanguageModel.n_block` is 0), a block
is the whole content of the context, and serves only a text that continues all of it.

Blocks are held in memory up to a number of bytes, and in files if a store has some (`state_files`).
The least recently used ones are evicted first, the end of a text before its beginning.

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

MIN_BLOCK_TOKENS = 16
"""Minimum number of tokens of a block: fewer are quickly read again."""


class Block:
    """The cells of some tokens, after those of the blocks before it.

    Attributes:
        tokens: Ids of the tokens.
        parent: The block before it, or None for the root of a tree.
        name: A digest of the model, the tokens before it and its own.
        data: Content of its cells, or None if only its file has it.
        is_filed: Whether it has a file.
        owners: Names of the owners whose texts contain all of its tokens; empty for a private one.
        only_for: Name of the only owner that may use it, since its text is private; empty for any.
        used: Number that grows with each use; a parent's is never below its children's.
        version: `StateFiles.version` of the files whose blocks are among its children.
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
        for block in found:  # the list grows; a text of 100,000 tokens is too deep for recursion
            found += block.children
        return reversed(found)


class StateFiles(Protocol):
    """Stores blocks in files; methods never raise: on a failure, stored states are lost.

    Attributes:
        version: Number that changes when files have come or gone.
    """

    version: int

    def refresh(self) -> None:
        """List the files again, since other programs write and delete, too."""

    def has(self, tree: StateTree, block: Block) -> bool:
        """Return whether a block had a file at the last listing."""

    def has_given_way(self, tree: StateTree, block: Block) -> bool:
        """Return whether a block's file was deleted here to make room for others."""

    def after(self, tree: StateTree, parent: Block) -> Mapping[str, set[str]]:
        """Return the names of the blocks after one, each with its owners, as last listed."""

    def tokens(self, tree: StateTree, parent: Block, name: str) -> list[int] | None:
        """Return the tokens of a block after another one; None if its file is missing or wrong."""

    def read(self, tree: StateTree, block: Block) -> bytes | None:
        """Return the content of a block's cells; None if its file is missing, or was wrong."""

    def write(self, tree: StateTree, block: Block) -> bool:
        """Write a block with its owners, or only its owners if it exists; return False on failure.

        Older files are deleted if the limit requires it.
        """

    def use(self, tree: StateTree, blocks: Iterable[Block]) -> None:
        """Note that blocks are in use, so that others are evicted first."""

    def remove(self, tree: StateTree, block: Block) -> None:
        """Delete a block's file."""

    def forget(self, owner: str) -> None:
        """Delete what belongs to an owner alone, of all models; everything if empty."""


class StoredPrefix(NamedTuple):
    """The longest stored prefix of a text.

    Attributes:
        blocks: The blocks in order; of the last one perhaps only a part can be used.
        n_tokens: Number of the text's tokens in them.
    """

    blocks: tuple[Block, ...]
    n_tokens: int


class StateTree:
    """The stored states of one model with its settings.

    Args:
        store: The store that counts the bytes of all trees.
        key: Key of model, build, settings and processor: states of another key are not used.
        n_block: Number of tokens per block; 0 if a block is the whole content of a context.

    Attributes:
        version: `StateFiles.version` of the files that its blocks were last compared with.
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
        """Return the longest stored prefix of a text that this owner may use."""
        best, n_best, ways = self.root, 0, [(self.root, 0)]
        for block, done in ways:  # the list grows: private and shared texts may begin alike
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
        """Return the part of a text to store next, or None if all of it is stored.

        The stored part counts as used, and gets this owner, too.

        Returns:
            The block before it, its first index and its number of tokens.
        """
        seen = ("", owner.name) if owner.private else ("",)
        block, done, rest = self.root, 0, len(tokens)
        while rest >= MIN_BLOCK_TOKENS:
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
        """Remove a block and those after it from memory and, unless files are kept, from disk."""
        for gone in (*block.descendants(), block):
            self._store.let_go(self, gone, keeps_file=keeps_files)
        if block.parent is not None and block in block.parent.children:
            block.parent.children.remove(block)

    def forget(self, owner: str = "") -> None:
        """Remove what belongs to this owner alone, except in files; everything if empty."""
        for block in tuple(self.root.descendants()):
            if owner and owner in block.owners and len(block.owners) > 1:
                block.owners.discard(owner)
            elif not owner or owner == block.only_for or owner in block.owners:
                self.remove(block, keeps_files=True)


class StateStore:
    """The stored states of a pair's models, in memory up to `most_bytes`, and in files.

    Attributes:
        n_bytes: Bytes held in memory.
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
        """Return the tree of a model; it includes what files contain for this key."""
        tree = next((tree for tree in self.trees if tree.key == key), None)
        if tree is None:
            tree = StateTree(self, key, n_block)
            self.trees.append(tree)
            self.refresh()
        return tree

    def refresh(self) -> None:
        """Add to the trees what other programs have written since, and drop what they deleted."""
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
        """Return the blocks after one; those in files are read first."""
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
        """Return the content of a block's cells; None if it is lost, and the block dropped."""
        self.touch(block)
        if block.data is None:
            found = self._files.read(tree, block) if self._files and block.is_filed else None
            if found is None:
                block.is_filed = False
                tree.remove(block)
                return None
            self.hold(tree, block, found)
            return found  # memory may have had no room for it
        return block.data

    def touch(self, block: Block) -> None:
        """Note that a block and those before it are in use."""
        for each in block.line():  # so that the end of a text is evicted before its beginning
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
        """Remove a block from memory: keep it only in its file, or not at all."""
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
        """Remove a block from memory and disk; its tree drops it."""
        self._unfiled.pop(block, None)
        self._release(block)
        if block.is_filed and self._files is not None and not keeps_file:
            block.is_filed = False
            self._files.remove(tree, block)

    def note_owners(self, tree: StateTree, block: Block) -> None:
        """Write the owners of a block to disk, if it has a file."""
        if block.is_filed:
            self._unfiled[block] = tree

    def file_one(self, *, wants_ends: bool = False) -> bool:
        """Write the most recently used block that waits for it; return False if none waits.

        Args:
            wants_ends: Whether to write also blocks that the text may replace when it grows.
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
        """Drop what belongs to this owner alone in all trees and files; everything if empty."""
        for block in tuple(self._unfiled):
            if owner and block.is_filed and len(block.owners) > 1:  # it stays for the other owners
                self._file(block)
        for tree in self.trees:
            tree.forget(owner)
        if self._files is not None:
            self._files.forget(owner)
