"""Reads model files without being harmed by them.

A header is parsed and a vocabulary is loaded by native code, which a broken file may crash; it is
done in a process of its own (`inspect.child`), and a file that ends that process costs one answer.
llama.cpp is not loaded here.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Sequence
from pathlib import Path

from paceline.catalog.card import Examined, ModelCard
from paceline.catalog.inspect.child import run_inspector
from paceline.catalog.inspect.vocabulary_store import ExaminedStore, VocabularyStore
from paceline.catalog.inspect.wire import (
    Answer,
    Know,
    LookAt,
    Measure,
    Measured,
    Question,
    Refused,
    Seen,
    Supported,
    Texts,
    TextsOf,
    decode_answer,
    split_texts,
)
from paceline.catalog.local.model_files import model_at
from paceline.catalog.memory.values import Measurement
from paceline.engine.model.model_file import PART
from paceline.engine.model.vocabularies import hash_of_texts
from paceline.errors import CancelledError, ModelError, UserError, ValueOutOfRangeError
from paceline.hosting.wire import encode_message
from paceline.params import ModelParams
from paceline.sentence import Sentence, sentence
from paceline.sizes import one_line
from paceline.workers.process import ChildMain, Language
from paceline.workers.worker import NoAnswerError, Trouble, Worker

ANSWER_S = 20.0
IDLE_S = 60.0
_logger = logging.getLogger(__name__)


_MAX_MESSAGE_CHARS = 400
"""Upper bound of the characters of a message without arguments, and of each argument."""
_AGAIN = sentence("Download it again, or choose another one.")
_WHY: dict[Trouble, tuple[str, str, str]] = {
    "crashed": (
        "crashes-the-reader",
        sentence("“{name}” cannot be used: llama.cpp crashes when it reads the file's header."),
        _AGAIN,
    ),
    "nonsense": (
        "crashes-the-reader",
        sentence(
            "“{name}” cannot be used: llama.cpp gave nonsense when it read the file's header."
        ),
        _AGAIN,
    ),
    "out-of-memory": (
        "crashes-the-reader",
        sentence("“{name}” cannot be used: its header asks for more memory than there is."),
        _AGAIN,
    ),
    "slow": (
        "takes-too-long",
        sentence("“{name}” cannot be used: reading its header does not come to an end."),
        sentence("Check the disk that it lies on, or choose another one."),
    ),
    "not-started": (
        "cannot-look",
        sentence("“{name}” cannot be looked at: no process can be started for it ({text})."),
        sentence("Close other programs and try again."),
    ),
}
"""Code, message and hint."""


def inspector_language() -> Language[Question, Answer]:
    """Return the messages that are exchanged with an inspector's process."""
    return Language("paceline-inspector", encode_message, decode_answer)


def inspecting_worker(
    main: ChildMain = run_inspector, *, idle_s: float = IDLE_S
) -> Worker[Question, Answer]:
    """Return a worker that asks an inspector's process."""
    return Worker(main, inspector_language(), idle_s=idle_s)


class Inspector:
    """Reads model files; any thread may ask, and calls block.

    Questions are answered one after the other. All methods that ask raise `ModelError`: with
    "not-a-gguf", "cannot-load", "no-tokenizer" and the like where the file is at fault, with
    "crashes-the-reader" where reading it ended the process, with "takes-too-long" after the time
    limit. After `close`, and where it comes while they wait, they raise `CancelledError`.

    Args:
        cache_dir: Folder for vocabularies, cards and natures, or None to keep none.
        main: Runs in the process.
        answer_s: Upper bound of the seconds for an answer.
        idle_s: Seconds after which a process without work is ended.
    """

    def __init__(
        self,
        cache_dir: Path | None = None,
        *,
        main: ChildMain = run_inspector,
        answer_s: float = ANSWER_S,
        idle_s: float = IDLE_S,
    ) -> None:
        self._answer_s = answer_s
        self._worker = inspecting_worker(main, idle_s=idle_s)
        self._vocabularies = VocabularyStore(cache_dir / "vocabularies" if cache_dir else None)
        self._examined = ExaminedStore(cache_dir / "examined" if cache_dir else None)
        self._unknown: dict[str, str] = {}

    @property
    def pid(self) -> int:
        """The process's id; 0 when there is none."""
        return self._worker.pid

    def card(self, path: Path, parts: Sequence[Path] = ()) -> ModelCard:
        """Return a model's card, from the headers alone.

        Args:
            path: The file; of a split model any part.
            parts: All files of a split model in order, the first part first. Where none are given,
                those that lie beside `path` are taken. Sizes count the files that are there.

        Raises:
            ModelError: See above.
        """
        files = _files(path, parts)
        return self._seen(files, card_only=True).card

    def examine(self, path: Path, parts: Sequence[Path] = ()) -> Examined:
        """Return all that a judgement about a model needs; a known model needs no process.

        Args:
            path: As for `card`. The file may lack everything after its header, if its size is
                that of the whole file; of a split model the first part is enough for everything
                except sizes.
            parts: As for `card`.

        Raises:
            ModelError: See above.
        """
        files = _files(path, parts)
        key = self._examined.key(files)
        seen = self._examined.get(files, key)
        is_new = seen is None
        if seen is None:
            seen = self._seen(files, card_only=False)
        texts = self._vocabularies.get(seen.card.vocabulary)
        if texts is None:
            texts = self._texts(files[0], seen)
            self._vocabularies.put(seen.card.vocabulary, texts)
        if is_new:
            self._examined.put(files, seen, key)
        assert seen.nature is not None
        return Examined(seen.card, seen.nature, texts)

    def measure(self, params: ModelParams, *, n_rows: int = 63, target: str = "") -> Measurement:
        """Return the memory that a model would take, by a load of llama.cpp that allocates nothing.

        The first one of a model takes about as long as reading its header, others 20 ms.

        Args:
            params: Parameters of the load; the file may lack everything after its header.
            n_rows: Upper bound of the rows of logits of one decode.
            target: The file of the target whose MTP head is measured; empty to measure a model.

        Raises:
            ModelError: See above; also where such a context is not possible.
            ValueOutOfRangeError: A parameter makes no sense.
        """
        path = Path(params.path)
        _check_name(path)
        answer = self._ask(Measure(params, n_rows, target), path)
        if not isinstance(answer, Measured):
            raise _error("nonsense", path)
        return answer.run

    def what_is_unknown(self, architecture: str) -> str:
        """Return llama.cpp's message that it does not know an architecture.

        Empty if it knows it, or cannot be asked.
        """
        if architecture not in self._unknown:
            try:
                answer = self._worker.ask(Know(architecture), self._answer_s)
            except NoAnswerError:
                return ""
            self._unknown[architecture] = answer.unknown if isinstance(answer, Supported) else ""
        return self._unknown[architecture]

    def rest(self) -> None:
        """End the process when it has answered all questions; the next question starts another.

        Where a GPU is used, `measure` occupies some of its memory until then: rest before a load.
        Does not wait.
        """
        self._worker.rest()

    def close(self) -> None:
        """End the process and its thread; calls that wait for an answer raise a `ModelError`."""
        self._worker.close()

    def _seen(self, files: Sequence[Path], *, card_only: bool) -> Seen:
        question = LookAt(tuple(map(str, files)), card_only=card_only)
        answer = self._ask(question, files[0])
        if not isinstance(answer, Seen) or (answer.nature is None) is not card_only:
            raise _error("nonsense", files[0])
        return answer

    def _texts(self, path: Path, seen: Seen) -> tuple[bytes, ...]:
        answer = self._ask(TextsOf(str(path)), path)
        if not isinstance(answer, Texts):
            raise _error("nonsense", path)
        try:
            texts = split_texts(base64.b64decode(answer.joined))
        except ValueError:
            raise _error("nonsense", path) from None
        if len(texts) != seen.card.n_vocab or hash_of_texts(texts) != seen.card.vocabulary:
            raise ModelError(
                "changed",
                "“{name}” was changed while it was looked at.",
                "Try again when it is complete.",
                name=path.name,
            )
        return texts

    def _ask(self, question: Question, path: Path) -> Answer:
        try:
            answer = self._worker.ask(question, self._answer_s)
        except NoAnswerError as error:
            if error.trouble == "stopped":
                raise CancelledError from None
            _logger.warning("the reader of model files: %s", error.words)
            raise _error(error.trouble, path, error.words) from None
        if isinstance(answer, Refused):
            raise _refusal(answer)
        return answer


def _files(path: Path, parts: Sequence[Path]) -> tuple[Path, ...]:
    """Return all files of a model in order."""
    if parts:
        files = tuple(parts) if path in parts else (path, *parts)
    else:
        files = model_at(path).parts if PART.search(path.name) else (path,)
    for file in files:
        _check_name(file)
    return files


def _check_name(path: Path) -> None:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        shown = path.name.encode(errors="replace").decode()
        raise ModelError(
            "cannot-read",
            "The name “{shown}” or that of its folder is no valid text.",
            "Rename it.",
            shown=shown,
        ) from None


def _error(trouble: Trouble, path: Path, text: str = "") -> ModelError:
    code, message, hint = _WHY.get(trouble, _WHY["not-started"])
    return ModelError(code, str(message), hint, name=path.name, text=text)


def _short(text: str) -> str:
    """Return a child's message on one line: it quotes the file, which may hold any text."""
    if not (isinstance(text, Sentence) and text.arguments):
        return one_line(text, _MAX_MESSAGE_CHARS)
    arguments = text.arguments.items()
    return Sentence(
        text.template, {k: _short(v) if isinstance(v, str) else v for k, v in arguments}
    )


def _refusal(answer: Refused) -> UserError:
    message, hint = _short(answer.message), _short(answer.hint)
    if answer.is_value:
        return ValueOutOfRangeError(answer.code, message, hint)
    error = ModelError(answer.code, message, hint)
    error.smaller_ctx = answer.smaller_ctx
    return error
