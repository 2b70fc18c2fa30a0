"""Chats over a scripted model: what streams, joined, is stored, and the next prompt has it."""

from __future__ import annotations

from functools import partial
from itertools import count
from pathlib import Path

import pytest

from chat.chat_bench import Shown
from engine.test_continue_texts import Writer
from fake_model import ByteVocabulary, FakeBackend, FakeModel, scripted
from inline_client import InlineClient
from paceline.chat.pair import Pair, PairLoader
from paceline.chat.reasoning import answer_of
from paceline.chat.reply import Reply
from paceline.chat.reply_runner import SessionListener
from paceline.chat.session import ChatSession
from paceline.engine.llama import LlamaBackend
from paceline.engine.prompt.template import ChatTemplate
from paceline.hosting.threaded import make_engine_service
from paceline.messages import ChatMessage, ModelParams, SamplingParams, StepCommitted
from paceline.params import ReplySettings
from paceline.storage.archive import ConversationStore
from tiny_vocabularies import write

TURNS = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"
TEMPLATES = {
    "no reasoning": TURNS,
    "opened": TURNS + "{{ '<think>\n' }}",
    "opened, with a switch": TURNS
    + "{{ '<think>\n' if enable_thinking is undefined or enable_thinking else '<think></think>' }}",
    "opened by a mark in no list": (
        "{% for m in messages %}{{ m.role }}: {% if m.reasoning_content %}[[a]]"
        "{{ m.reasoning_content }}[[/a]]{% endif %}{{ m.content }}\n{% endfor %}assistant: [[a]]"
    ),
}


class Live(SessionListener):
    """The text of the growing reply, as a window shows it."""

    def __init__(self) -> None:
        self.text = ""

    def reply_started(self, reply: Reply) -> None:
        """Begin with what it has."""
        self.text = reply.text

    def reply_grew(self, reply: Reply, step: StepCommitted) -> None:
        """Append."""
        del reply
        self.text += step.text


class Life(Shown):
    """A session, its engine, and the model's context."""

    def __init__(self, model: FakeModel, *, max_tokens: int = 9) -> None:
        self.model, self.live = model, Live()
        client = InlineClient(
            partial(make_engine_service, backend=lambda: FakeBackend({"target": model}))
        )
        numbers = count()
        loader = PairLoader(client)
        settings = ReplySettings(SamplingParams(0.0), max_tokens=max_tokens)
        session = ChatSession(
            client, loader, store=ConversationStore(), defaults=lambda: settings,
            fingerprint_of=lambda _path: "", new_id=lambda: f"id-{next(numbers)}",
            clock=lambda: 0.0, now=lambda: 0.0,
        )  # fmt: skip
        self.begin(session)
        session.set_listener(self.live)
        loader.load(Pair(ModelParams("target")))

    @property
    def last(self) -> str:
        return self.current.path()[-1].text

    @property
    def context(self) -> str:
        return b"".join(map(self.model.vocab.piece, self.model.tokens)).decode("utf-8", "replace")


@pytest.mark.parametrize("vocabulary", ["bytes", "SentencePiece", "Unigram"])
@pytest.mark.parametrize("name", TEMPLATES)
def test_an_edited_reply_continues_as_it_stands(name: str, vocabulary: str, tmp_path: Path) -> None:
    vocab = ByteVocabulary()
    if vocabulary != "bytes":
        vocab = LlamaBackend().load_vocabulary(str(write(vocabulary, tmp_path)))
    model = Writer(vocab, 7)
    model.template = TEMPLATES[name]
    life = Life(model)
    assert life.send("Hello?")
    assert life.live.text == life.last
    reply_id = life.current.leaf_id
    assert reply_id
    assert life.edit_reply(reply_id, "Hello wor")
    for _ in range(3):
        before = life.last
        assert life.continue_reply()
        assert life.live.text == life.last
        assert life.last.startswith(before)
        assert len(life.last) > len(before)
        assert answer_of(life.last) == life.last
    assert life.last.startswith("Hello wor")
    stored = life.last
    assert life.send("And?")
    if vocabulary == "bytes":
        assert f"assistant: {stored}\nuser: And?" in life.context
    vocab.close()


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("n_tokens", [1, 2, 3, 5])
def test_half_a_character_waits_for_the_next_part(name: str, n_tokens: int) -> None:
    text = "a🎉b€c"
    template = ChatTemplate(TEMPLATES[name], ByteVocabulary())
    n_prompt = len(template.encode((ChatMessage.of_text("user", "Hello?"),))[0])
    model = FakeModel(scripted(text, n_prompt), n_ctx=2048)
    model.template = TEMPLATES[name]
    life = Life(model, max_tokens=n_tokens)
    assert life.send("Hello?")
    for _ in range(len(text.encode()) // n_tokens):
        assert "\ufffd" not in life.last
        assert life.live.text == life.last
        if life.last.endswith(text):
            break
        assert life.continue_reply()
    assert life.last.endswith(text)
