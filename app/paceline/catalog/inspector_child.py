"""The process that looks into model files: what runs in it, from its first line to its last.

ggml's parser and llama.cpp's tokenizers are native code, and a header is written by a stranger. So
they meet here, in a process that holds nothing and may die of it; `inspector` asks and starts
another one. It may take half of the computer's memory at most: a header can promise anything.
"""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from paceline.catalog.card import Memory, Nature
from paceline.catalog.inspector_wire import (
    Answer,
    Leave,
    LookAt,
    Measure,
    Measured,
    Question,
    Refused,
    Seen,
    Texts,
    TextsOf,
    decode_question,
    encode_answer,
    pack_texts,
)
from paceline.catalog.make_card import TOKENS, make_card, token_texts
from paceline.engine.model_file import check_model_file
from paceline.errors import ModelError, UserError, ValueOutOfRangeError
from paceline.hosting.frames import FrameReader, frame
from paceline.hosting.guard import guard_process
from paceline.hosting.wire import Dying, Ready

if sys.platform != "win32":
    import resource

if TYPE_CHECKING:
    from paceline.engine.llama.dry_run import DryRuns
    from paceline.engine.llama.vocabulary import LlamaVocabularyFile

_FAILED = 70  # EX_SOFTWARE of sysexits.h
_WORD_PIECES = 3  # enum llama_vocab_type: the tokenizer of BERT and its kin
_NOT_ALONE = {"eagle3", "dflash", "gemma4-assistant", "clip", "wavtokenizer-dec"}
"""Architectures that are a part of another model."""


def run_inspector(
    pipe: socket.socket,
    parent_pid: int,
    output: str,
    prepare: Callable[[Reader], None] | None = None,
) -> None:
    """Be the process; returns never.

    Args:
        pipe: One end of a socket pair.
        parent_pid: Who has the other one.
        output: File for what is printed.
        prepare: Gets the reader before the first question, for tests that break it on purpose.
    """
    guard_process(parent_pid, output)
    _limit_memory()
    pipe.settimeout(None)

    def send(answer: Answer | Dying) -> None:
        try:
            pipe.sendall(frame(encode_answer(answer)))
        except OSError:
            os._exit(0)

    questions: queue.SimpleQueue[Question] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, questions), name="reader", daemon=True).start()
    try:
        from paceline.engine.native import report_aborts  # noqa: PLC0415  after the guard

        report_aborts(lambda text: send(Dying(text)))
        reader = Reader()
        if prepare is not None:
            prepare(reader)
        send(Ready(os.getpid()))
        while not isinstance(question := questions.get(), Leave):
            for answer in reader.answer(question):
                send(answer)
    except Exception as error:  # noqa: BLE001  nobody else could tell what happened
        send(Dying(f"{type(error).__name__}: {error}"[:300]))
        os._exit(_FAILED)
    os._exit(0)  # without the interpreter's long goodbye


def _receive(pipe: socket.socket, questions: queue.SimpleQueue[Question]) -> None:
    """Take questions off the pipe until it ends, and the process with it, whatever it is doing."""
    reader = FrameReader()
    with contextlib.suppress(OSError, ValueError):
        while data := pipe.recv(1 << 16):
            for payload in reader.feed(data):
                questions.put(decode_question(payload))
    os._exit(0)


def _limit_memory() -> None:
    """Refuse memory of this process's own beyond half of what there is; mapped files are free."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError):
            most = psutil.virtual_memory().total // 2
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))


class Reader:
    """Answers questions about model files."""

    def __init__(self) -> None:
        self._texts: tuple[str, tuple[bytes, ...]] = "", ()  # of the last file
        self._dry_runs: DryRuns | None = None

    def answer(self, question: Question) -> Iterator[Answer]:
        """Yield the answers to a question."""
        try:
            match question:
                case LookAt():
                    yield self._look_at(question)
                case TextsOf():
                    yield from self._texts_of(question.file)
                case Measure():
                    yield self._measure(question)
                case Leave():
                    pass
        except UserError as error:
            yield Refused(
                error.code,
                error.message,
                error.hint,
                is_value=isinstance(error, ValueOutOfRangeError),
                smaller_ctx=error.smaller_ctx if isinstance(error, ModelError) else 0,
            )

    def _look_at(self, question: LookAt) -> Seen:
        from paceline.engine.llama import read_header  # noqa: PLC0415  native

        files = [check_model_file(file) for file in question.files]
        headers = [read_header(files[0], texts=[TOKENS]), *map(read_header, files[1:])]
        card = make_card(headers, files[0].name)
        self._texts = question.files[0], token_texts(headers[0])
        if question.card_only:
            return Seen(card, None)
        causal = headers[0].values.get(f"{card.architecture}.attention.causal", True)
        return Seen(card, _nature(files[0], card.architecture, is_causal=bool(causal)))

    def _texts_of(self, file: str) -> Iterator[Texts]:
        from paceline.engine.llama import read_header  # noqa: PLC0415  native

        path = check_model_file(file)
        if self._texts[0] != file:
            self._texts = file, token_texts(read_header(path, texts=[TOKENS]))
        try:
            yield from pack_texts(self._texts[1])
        except ValueError:
            raise ModelError(
                "cannot-load",
                f"“{path.name}” cannot be used: its vocabulary is larger than any other.",
                "Choose another one.",
            ) from None

    def _measure(self, question: Measure) -> Measured:
        from paceline.engine.llama.dry_run import DryRuns  # noqa: PLC0415  native

        if self._dry_runs is None:
            self._dry_runs = DryRuns()
        return Measured(self._dry_runs.measure(question.params, question.n_rows))


def _nature(path: Path, architecture: str, *, is_causal: bool) -> Nature:
    from paceline.engine.llama import LlamaBackend  # noqa: PLC0415  native

    vocab = LlamaBackend().load_vocabulary(str(path))
    try:
        return Nature(
            kind=vocab.kind,
            n_tokens=vocab.n_tokens,
            bos=vocab.bos,
            eos=vocab.eos,
            add_bos=vocab.add_bos,
            add_eos=vocab.add_eos,
            memory=_memory(vocab),
            writes=is_causal and _writes(vocab, architecture),
        )
    finally:
        vocab.close()


def _memory(vocab: LlamaVocabularyFile) -> Memory:
    if vocab.is_recurrent:
        return "recurrent"
    return "hybrid" if vocab.is_hybrid else "attention"


def _writes(vocab: LlamaVocabularyFile, architecture: str) -> bool:
    if vocab.is_diffusion or vocab.has_encoder or not vocab.has_decoder:
        return False
    # llama.cpp asks the weights of encoders for this, which are not there yet.
    is_encoder = vocab.kind == _WORD_PIECES or "bert" in architecture or "embed" in architecture
    return not (is_encoder or architecture in _NOT_ALONE)
