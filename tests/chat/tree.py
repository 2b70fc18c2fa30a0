"""A chat as a tree of texts, which the tests of many chats compare with a session's."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from paceline.params import ReplySettings


@dataclass
class Tree:
    """A chat as it has to be: its messages as (parent, role, text), and the end of its path."""

    private: bool
    nodes: dict[str, tuple[str | None, str, str]] = field(default_factory=dict)
    leaf: str | None = None
    settings: ReplySettings = field(default_factory=ReplySettings)
    title: str = ""
    n_holders: int = 0

    def path(self) -> list[str]:
        found: list[str] = []
        at = self.leaf
        while at is not None:
            found.insert(0, at)
            at = self.nodes[at][0]
        return found

    def prompt(self, end: str) -> list[tuple[str, str]]:
        """Return the prompt for the engine: without empty replies, with alternating roles."""
        prompt = self.settings.system_prompt
        said: list[tuple[str, str]] = [("system", prompt)] if prompt else []
        for name in replace(self, leaf=end).path():
            _, role, text = self.nodes[name]
            if text and said and said[-1][0] == role:
                said[-1] = (role, f"{said[-1][1]}\n\n{text}")
            elif text:
                said.append((role, text))
        return said

    def add(self, name: str, parent: str | None, role: str, text: str) -> None:
        self.nodes[name] = parent, role, text
        self.leaf = name

    def children(self, parent: str | None) -> list[str]:
        return [name for name, node in self.nodes.items() if node[0] == parent]

    def below(self, name: str) -> list[str]:
        """Return the message and all that follows it, in the order in which they were added."""
        found = {name}
        while more := {n for n, node in self.nodes.items() if node[0] in found} - found:
            found |= more
        return [n for n in self.nodes if n in found]

    def turn_to(self, name: str) -> None:
        self.leaf = [n for n in self.below(name) if not self.children(n)][-1]

    def drop(self, name: str) -> None:
        parent, gone = self.nodes[name][0], self.below(name)
        self.nodes = {n: node for n, node in self.nodes.items() if n not in gone}
        if self.leaf in gone:
            self.leaf = parent
            if others := self.children(parent):
                self.turn_to(others[-1])

    def is_reply(self, name: str) -> bool:
        return self.nodes[name][1] == "assistant"
