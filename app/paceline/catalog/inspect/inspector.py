"""Reads model files without being harmed by them.

A header is parsed and a vocabulary is loaded by native code, which a broken file may crash; it is
done in a process of its own (`inspect.child`), and a file that ends that process costs one answer.
llama.cpp is not loaded here.

On Linux a child dies with the thread that started it, so it has a thread of its own that lives as
long as the inspector. Other threads put questions into a queue and wait. A process that dies over a
question, hangs or sends something that is no answer is replaced, and the question is asked once
more if the process had answered others before: one of those files may have done the damage.
"""

from __future__ import annotations

import base64
import contextlib
import logging
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

from paceline.catalog.card import Examined, ModelCard
from paceline.catalog.inspect.child import run_inspector
from paceline.catalog.inspect.vocabulary_store import ExaminedStore, VocabularyStore
from paceline.catalog.inspect.wire import (
    Answer,
    Know,
    Known,
    Leave,
    LookAt,
    Measure,
    Measured,
    Question,
    Refused,
    Seen,
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
from paceline.hosting.child_process import ChildMain, ChildProcess, Language
from paceline.hosting.exit_reasons import OUT_OF_MEMORY
from paceline.hosting.wire import FrameError, Ready, WireError, encode_message
from paceline.params import ModelParams
from paceline.sentence import Sentence, sentence
from paceline.sizes import one_line

ANSWER_S = 20.0
IDLE_S = 60.0
START_S = 60.0
_POLL_S = 0.02

Trouble = Literal["closed", "crashed", "out-of-memory", "slow", "nonsense", "not-started"]
_MAYBE_ANOTHERS: tuple[Trouble, ...] = ("crashed", "out-of-memory", "nonsense")
"""Troubles that an earlier file may have caused; in a new process it is the file's own fault."""
_logger = logging.getLogger(__name__)
_Child = ChildProcess[Question | Leave, Answer]


class NoAnswerError(Exception):
    """A question was not answered.

    Attributes:
        trouble: What happened to the process.
        text: More about that, as a part of a sentence; empty: it says it all.
    """

    def __init__(self, trouble: Trouble, text: str = "") -> None:
        super().__init__(text or trouble)
        self.trouble, self.text = trouble, text


class InspectorThread:
    """Asks a process of its own; any thread may call, and nothing starts before the first question.

    Args:
        main: Runs in the process.
        answer_s: Seconds that a question may take.
        idle_s: Seconds without a question after which the process is ended.
    """

    def __init__(
        self,
        main: ChildMain = run_inspector,
        *,
        answer_s: float = ANSWER_S,
        idle_s: float = IDLE_S,
    ) -> None:
        self._main = main
        self._answer_s = answer_s
        self._idle_s = idle_s
        self._pool = ThreadPoolExecutor(1, "inspector")
        self._idle: threading.Timer | None = None
        self._child: _Child | None = None
        self._is_closed = False

    @property
    def pid(self) -> int:
        """The process's id; 0 when there is none."""
        child = self._child
        with contextlib.suppress(ValueError):  # it has just been freed
            return child.pid if child else 0
        return 0

    def ask(self, question: Question) -> Answer:
        """Wait for the answer to a question.

        Raises:
            NoAnswerError: There is none.
        """
        try:
            answer = self._pool.submit(self._answer, question)
        except RuntimeError:
            raise NoAnswerError("closed") from None
        return answer.result()

    def rest(self) -> None:
        """End the process after the waiting questions; the next question starts another."""
        with contextlib.suppress(RuntimeError):  # it is closed
            self._pool.submit(self._end)

    def close(self) -> None:
        """End process and thread; calls that wait for an answer raise `NoAnswerError`."""
        self._is_closed = True
        self.rest()
        self._pool.shutdown()
        if self._idle is not None:
            self._idle.cancel()
            self._idle.join()

    # --------------------------------------------------------------- on the inspector's thread

    def _answer(self, question: Question) -> Answer:
        if self._idle is not None:
            self._idle.cancel()
        is_fresh = self._child is None
        try:
            return self._answer_once(question)
        except NoAnswerError as error:
            if is_fresh or error.trouble not in _MAYBE_ANOTHERS:
                raise
            return self._answer_once(question)
        finally:
            self._idle = threading.Timer(self._idle_s, self.rest)
            self._idle.daemon = True
            self._idle.start()

    def _answer_once(self, question: Question) -> Answer:
        if self._is_closed:
            raise NoAnswerError("closed")
        try:
            child = self._ready_child()
            if not child.send(question):
                raise self._lost(child)
            answer = self._heard(child, self._answer_s)
            if isinstance(answer, Ready):
                raise WireError("an answer without a question")
        except (WireError, FrameError) as error:
            text = sentence("it said nonsense: {error}", error=error)
            raise self._killed("nonsense", text) from None
        return answer

    def _heard(self, child: _Child, seconds: float) -> Answer:
        """Wait for the one message that is due."""
        deadline = time.monotonic() + seconds
        while not (answers := list(child.receive(_POLL_S))):
            if child.has_ended:
                raise self._lost(child)
            if self._is_closed:
                raise self._killed("closed")
            if time.monotonic() > deadline:
                raise self._killed("slow", sentence("it took too long"))
        if len(answers) > 1:
            raise WireError("more than one answer")
        return answers[0]

    def _ready_child(self) -> _Child:
        child = self._child
        if child is not None:
            # It may have died between two questions, which costs nothing.
            is_sane = not list(child.receive(0)) and not list(child.receive(0))
            if is_sane and not child.has_ended:
                return child
            self._kill()
        try:
            child = self._child = ChildProcess(
                self._main, Language("paceline-inspector", encode_message, decode_answer, Leave())
            )
        except OSError as error:
            raise NoAnswerError("not-started", str(error.strerror or error)) from None
        try:
            if not isinstance(self._heard(child, START_S), Ready):
                raise WireError("an answer before any question")
        except NoAnswerError as error:
            if error.trouble == "closed":
                raise
            why = sentence("it ended at once")
            if error.trouble == "slow":
                why = sentence("it was not ready in time")
            raise NoAnswerError("not-started", why) from None
        return child

    def _lost(self, child: _Child) -> NoAnswerError:
        """Return the error for a process that died."""
        self._child = None
        death = child.describe_death()
        _logger.warning("the reader of model files ended: %s", death.reason)
        is_memory = death.code == OUT_OF_MEMORY
        return NoAnswerError("out-of-memory" if is_memory else "crashed", death.reason)

    def _killed(self, trouble: Trouble, text: str = "") -> NoAnswerError:
        """End the process at once; returns the error to raise."""
        self._kill()
        if text:
            _logger.warning("the reader of model files was ended: %s", text)
        return NoAnswerError(trouble, text)

    def _kill(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()


_LONGEST = 400
"""Characters of a message without arguments, and of each argument."""
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


class Inspector:
    """Reads model files; any thread may ask, and calls block.

    Questions are answered one after the other. All methods that ask raise `ModelError`: with
    "not-a-gguf", "cannot-load", "no-tokenizer" and the like where the file is at fault, with
    "crashes-the-reader" where reading it ended the process, with "takes-too-long" after the time
    limit. After `close`, and where it comes while they wait, they raise `CancelledError`.

    Args:
        cache_dir: Where vocabularies and what is known of models may be kept; None: nowhere.
        main: Runs in the process.
        answer_s: Seconds that an answer may take.
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
        self._thread = InspectorThread(main, answer_s=answer_s, idle_s=idle_s)
        self._vocabularies = VocabularyStore(cache_dir / "vocabularies" if cache_dir else None)
        self._examined = ExaminedStore(cache_dir / "examined" if cache_dir else None)
        self._unknown: dict[str, str] = {}

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
        """Return what llama.cpp would take to load a model, by a load that allocates nothing.

        The first one of a model takes about as long as reading its header, others 20 ms.

        Args:
            params: How it would be loaded; the file may lack everything after its header.
            n_rows: Rows of logits that one decode gives at most.
            target: The file of the target whose MTP head is measured; empty: a model is.

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
        """Return that llama.cpp does not know an architecture, in its words.

        Empty: it knows it, or cannot be asked.
        """
        if architecture not in self._unknown:
            try:
                answer = self._thread.ask(Know(architecture))
            except NoAnswerError:
                return ""
            self._unknown[architecture] = answer.unknown if isinstance(answer, Known) else ""
        return self._unknown[architecture]

    def rest(self) -> None:
        """End the process when it has answered all questions; the next question starts another.

        Where a GPU is used, `measure` occupies some of its memory until then: rest before a load.
        Does not wait.
        """
        self._thread.rest()

    def close(self) -> None:
        """End the process and its thread; calls that wait for an answer raise a `ModelError`."""
        self._thread.close()

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
            answer = self._thread.ask(question)
        except NoAnswerError as error:
            if error.trouble == "closed":
                raise CancelledError from None
            raise _error(error.trouble, path, error.text) from None
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
    code, message, hint = _WHY[trouble]
    return ModelError(code, str(message), hint, name=path.name, text=text)


def _short(text: str) -> str:
    """Return what a child says on one line: it quotes the file, whose texts may be of any kind."""
    if not (isinstance(text, Sentence) and text.arguments):
        return one_line(text, _LONGEST)
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
