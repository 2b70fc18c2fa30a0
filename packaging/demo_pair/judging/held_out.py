"""The loss of a GGUF file on held-out chats, by llama.cpp, and whether it cuts text as we do.

Models with different tokenizers are compared in nats per byte of what the assistant says; nats per
token are for models that share one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from llama_cpp import Llama

from demo_pair.chats.chat import END, START, Chat
from demo_pair.learning.tokens import Tokens, assistants

N_CONTEXT = 2_048


@dataclass(frozen=True)
class Loss:
    """The mean surprise of what the assistant says."""

    nats_per_token: float
    nats_per_byte: float
    n_tokens: int


class Judge:
    """A model of which every prediction is looked at."""

    def __init__(self, model: Path, threads: int | None = None) -> None:
        self._llama = Llama(
            str(model), n_ctx=N_CONTEXT, n_batch=N_CONTEXT, logits_all=True, verbose=False,
            n_threads=threads, n_threads_batch=threads,
        )  # fmt: skip
        self._header = np.array(self.ids(f"{START}assistant\n"))
        self._end = self.ids(END)[0]

    def close(self) -> None:
        """Free the model."""
        self._llama.close()

    def ids(self, text: str) -> list[int]:
        """Return the ids of a text that may have special tokens."""
        found = self._llama.tokenize(text.encode(), add_bos=False, special=True)
        return [int(each) for each in found]

    def loss(self, chats: Sequence[Chat]) -> Loss:
        """Return the loss on chats; what is longer than the context is cut."""
        nats = 0.0
        n_tokens = n_bytes = 0
        for chat in chats:
            ids = self.ids(chat.text())[:N_CONTEXT]
            said = assistants(np.array(ids), self._header, self._end)
            self._llama.reset()
            self._llama.eval(ids)
            places = np.flatnonzero(said[1:])
            logits = self._llama.scores[: len(ids)][places].astype(np.float64)
            wanted = np.array(ids)[places + 1]
            top = logits.max(-1, keepdims=True)
            total = np.log(np.exp(logits - top).sum(-1)) + top[:, 0]
            nats += float((total - logits[np.arange(len(wanted)), wanted]).sum())
            n_tokens += len(wanted)
            n_bytes += sum(len(text.encode()) for role, text in chat.turns if role == "assistant")
        return Loss(nats / n_tokens, nats / n_bytes, n_tokens)

    def same_ids(self, chats: Sequence[Chat], tokens: Tokens) -> int:
        """Return of how many chats llama.cpp makes the ids that were learnt."""
        starts = np.concatenate(([0], tokens.ends[:-1]))
        return sum(
            self.ids(chat.text()) == tokens.ids[starts[at] : tokens.ends[at]].tolist()
            for at, chat in enumerate(chats)
        )
