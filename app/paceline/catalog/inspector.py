"""Looks into model files without being harmed by them.

A header is parsed and a vocabulary is loaded by native code, which a broken file may crash; it is
done in a process of its own (`inspector_child`), and what a file does to that process costs one
answer. Nothing of llama.cpp is loaded here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paceline.catalog.card import Examined, ModelCard
from paceline.catalog.inspector_child import run_inspector
from paceline.catalog.inspector_thread import (
    ANSWER_S,
    IDLE_S,
    InspectorThread,
    NoAnswerError,
    Trouble,
)
from paceline.catalog.inspector_wire import (
    Answer,
    LookAt,
    Measure,
    Measured,
    Question,
    Refused,
    Seen,
    Texts,
    TextsOf,
    unpack_texts,
)
from paceline.catalog.memory_values import Measurement
from paceline.catalog.model_files import PART, model_at
from paceline.catalog.vocabulary_store import ExaminedStore, VocabularyStore
from paceline.catalog.words import one_line
from paceline.engine.vocab import hash_of_texts
from paceline.errors import ModelError, UserError, ValueOutOfRangeError
from paceline.hosting.child_process import ChildMain
from paceline.hosting.wire import WireError
from paceline.params import ModelParams

_LONGEST = 500
"""Characters of a message."""
_AGAIN = "Download it again, or choose another one."
_WHY: dict[Trouble, tuple[str, str, str]] = {
    "crashed": (
        "crashes-the-reader",
        "“{name}” cannot be used: llama.cpp crashes when it reads the file's header.",
        _AGAIN,
    ),
    "nonsense": (
        "crashes-the-reader",
        "“{name}” cannot be used: llama.cpp went astray when it read the file's header.",
        _AGAIN,
    ),
    "out-of-memory": (
        "crashes-the-reader",
        "“{name}” cannot be used: its header asks for more memory than there is.",
        _AGAIN,
    ),
    "slow": (
        "takes-too-long",
        "“{name}” cannot be used: reading its header does not come to an end.",
        "Check the disk that it lies on, or choose another one.",
    ),
    "not-started": (
        "cannot-look",
        "“{name}” cannot be looked at: no process can be started for it ({text}).",
        "Close other programs and try again.",
    ),
    "closed": ("closed", "“{name}” was not looked at, since Paceline ends.", ""),
}
"""Code, message and hint."""


class Inspector:
    """Looks into model files; any thread may ask, and calls block.

    Questions are answered one after the other. All methods that ask raise `ModelError`: with
    "not-a-gguf", "cannot-load", "no-tokenizer" and the like where the file is at fault, with
    "crashes-the-reader" where reading it ended the process, with "takes-too-long" behind the time
    limit, with "closed" once the inspector is.

    Args:
        cache_dir: Where vocabularies and what is known of models may be kept; None: nowhere.
        main: What runs in the process.
        answer_s: Seconds that an answer may take.
        idle_s: Seconds behind which a process without work is ended.
    """

    def __init__(
        self,
        cache_dir: Path | None = None,
        *,
        main: ChildMain = run_inspector,
        answer_s: float = ANSWER_S,
        idle_s: float = IDLE_S,
    ) -> None:
        self._thread = InspectorThread(main, answer_s=answer_s, idle_s=idle_s)
        self._vocabularies = VocabularyStore(cache_dir / "vocabularies" if cache_dir else None)
        self._examined = ExaminedStore(cache_dir / "examined" if cache_dir else None)

    @property
    def pid(self) -> int:
        """The process's id; 0 when there is none."""
        return self._thread.pid

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
        """Return all that a judgement about a model needs; what is known already costs no process.

        Args:
            path: As for `card`. The file may end behind its header, if its size is that of the
                whole file; of a split model the first part is enough for everything but sizes.
            parts: As for `card`.

        Raises:
            ModelError: See above.
        """
        files = _files(path, parts)
        key = self._examined.key(files)
        seen = self._examined.get(files)
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

    def measure(self, params: ModelParams, *, n_rows: int = 63) -> Measurement:
        """Return what llama.cpp would take to load a model, by a load that allocates nothing.

        The first one of a model takes about as long as reading its header, others 20 ms.

        Args:
            params: How it would be loaded; the file may end behind its header.
            n_rows: Rows of logits that one decode gives at most.

        Raises:
            ModelError: See above; also where such a context is not possible.
            ValueOutOfRangeError: A parameter makes no sense.
        """
        path = Path(params.path)
        _check_name(path)
        answer = self._ask(Measure(params, n_rows), path)[-1]
        if not isinstance(answer, Measured):
            raise _error("nonsense", path)
        return answer.run

    def rest(self) -> None:
        """End the process when it has answered what it was asked; the next question starts another.

        Where a GPU is used, `measure` occupies some of its memory until then: rest before a load.
        Does not wait.
        """
        self._thread.rest()

    def close(self) -> None:
        """End the process and its thread; whoever waits for an answer gets a `ModelError`."""
        self._thread.close()

    def _seen(self, files: Sequence[Path], *, card_only: bool) -> Seen:
        question = LookAt(tuple(map(str, files)), card_only=card_only)
        answer = self._ask(question, files[0])[-1]
        if not isinstance(answer, Seen) or (answer.nature is None) is not card_only:
            raise _error("nonsense", files[0])
        return answer

    def _texts(self, path: Path, seen: Seen) -> tuple[bytes, ...]:
        answers = self._ask(TextsOf(str(path)), path)
        pieces = [answer for answer in answers if isinstance(answer, Texts)]
        try:
            texts = unpack_texts(pieces)
        except WireError:
            raise _error("nonsense", path) from None
        if len(texts) != seen.card.n_vocab or hash_of_texts(texts) != seen.card.vocabulary:
            raise ModelError(
                "changed",
                f"“{path.name}” was changed while it was looked at.",
                "Try again when it is complete.",
            )
        return texts

    def _ask(self, question: Question, path: Path) -> list[Answer]:
        try:
            answers = self._thread.ask(question)
        except NoAnswerError as error:
            raise _error(error.trouble, path, str(error)) from None
        if isinstance(refusal := answers[-1], Refused):
            raise _refusal(refusal)
        return answers


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
            f"The name “{shown}” or that of its folder is no valid text.",
            "Rename it.",
        ) from None


def _error(trouble: Trouble, path: Path, text: str = "") -> ModelError:
    code, message, hint = _WHY[trouble]
    return ModelError(code, message.format(name=path.name, text=text), hint)


def _refusal(answer: Refused) -> UserError:
    # llama.cpp quotes the file, whose texts may be as long as they like and colour a terminal.
    message, hint = (one_line(text, _LONGEST) for text in (answer.message, answer.hint))
    if answer.is_value:
        return ValueOutOfRangeError(answer.code, message, hint)
    error = ModelError(answer.code, message, hint)
    error.smaller_ctx = answer.smaller_ctx
    return error
