"""Conversations with runs, made by hypothesis; every value in them survives being exported."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, get_args

from hypothesis import strategies as st

from paceline.content import Text
from paceline.conversation import Attachment, Conversation, Message
from paceline.figures import DraftCount, DrafterStats, TokenTrace, TurnStats
from paceline.messages import FinishReason, StepCommitted
from paceline.params import LogitBias, ReplySettings, SamplingParams
from paceline.run_record import ModelRecord, RunError, RunRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DrawFn

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
WORD = st.text("abcxyz", min_size=1, max_size=5)
CONTENT = st.lists(TEXT.map(Text), min_size=1, max_size=2).map(tuple)
COUNT = st.integers(0, 5_000)
MICROS = st.integers(0, 10_000_000).map(lambda n: n / 1e6)
SECONDS = st.integers(0, 2_000_000_000).map(float)
FIGURE = st.floats(0, 1e6)
SHARE = st.one_of(st.none(), st.integers(0, 1000).map(lambda n: n / 1000))

ATTACHMENTS = st.lists(st.builds(Attachment, TEXT, TEXT, COUNT), max_size=2).map(tuple)
MODELS = st.builds(ModelRecord, TEXT, TEXT, TEXT, TEXT, COUNT, COUNT, COUNT, COUNT, COUNT)
SAMPLING = st.builds(
    SamplingParams,
    temperature=FIGURE,
    logit_bias=st.lists(
        st.builds(LogitBias, COUNT, st.sampled_from((-float("inf"), -1.5, 2.0))), max_size=2
    ).map(tuple),
    grammar=TEXT,
)
SETTINGS = st.builds(
    ReplySettings,
    st.builds(
        SamplingParams,
        temperature=st.floats(0, 5),
        logit_bias=st.just((LogitBias(3, -float("inf")), LogitBias(4, 0.5))),
        json_schema=TEXT,
    ),
    st.integers(1, 1_000_000),
    st.none() | COUNT,
    TEXT,
    st.lists(WORD, max_size=3, unique=True).map(tuple),
)
DRAFTERS = st.builds(
    DrafterStats, WORD, *[COUNT] * 3, *[FIGURE] * 3, *[COUNT] * 4,
    st.lists(COUNT, max_size=3).map(tuple),
)  # fmt: skip
STATS = st.builds(
    TurnStats, st.one_of(st.none(), st.booleans()), *[COUNT] * 3, *[FIGURE] * 4,
    st.one_of(st.none(), FIGURE), *[COUNT] * 4, SHARE, SHARE, FIGURE,
    st.lists(DRAFTERS, max_size=2).map(tuple),
    plain_low=st.one_of(st.none(), FIGURE), plain_high=st.one_of(st.none(), FIGURE),
    machine_busy=st.booleans(),
)  # fmt: skip


@st.composite
def steps(draw: DrawFn, n_chars: int) -> tuple[StepCommitted, ...]:
    """Steps whose tokens end within so many characters."""
    result, end = [], 0
    for number in range(draw(st.integers(0, 3))):
        tokens = []
        for position in range(draw(st.integers(0, 3))):
            end = draw(st.integers(end, n_chars))
            source = draw(st.sampled_from(("target", "draft", "suffix")))
            place = -1 if source == "target" else position
            tokens.append(TokenTrace(draw(COUNT), source, place, draw(SHARE), end))
        drafted = draw(st.lists(st.builds(DraftCount, WORD, COUNT, COUNT, COUNT), max_size=2))
        times = [draw(MICROS) for _ in range(4)]
        result.append(
            StepCommitted(
                number, tuple(tokens), draw(TEXT), tuple(drafted), *times, draw(st.booleans())
            )
        )
    return tuple(result)


@st.composite
def runs(draw: DrawFn, message: Message) -> RunRecord:
    """A record of this reply."""
    optional: Callable[[st.SearchStrategy[object]], st.SearchStrategy[object]]
    optional = lambda strategy: st.one_of(st.none(), strategy)  # noqa: E731
    return draw(
        st.builds(
            RunRecord,
            st.just(message.message_id),
            st.sampled_from(("running", "finished", "failed")),
            started_s=SECONDS,
            strategy=TEXT,
            asked_strategy=TEXT,
            sampling=SAMPLING,
            max_tokens=COUNT,
            seed=optional(st.integers(0, 2**64 - 1)),
            stop=st.lists(TEXT, max_size=2).map(tuple),
            system_prompt=TEXT,
            cuts=st.booleans(),
            n_cut=COUNT,
            reason=optional(st.sampled_from(get_args(FinishReason))),
            error=optional(st.builds(RunError, WORD, TEXT, TEXT)),
            stats=optional(STATS),
            first_token_s=optional(FIGURE),
            notes=st.lists(TEXT, max_size=2).map(tuple),
            target=optional(MODELS),
            draft=optional(MODELS),
            app_version=TEXT,
            engine_version=TEXT,
            steps=steps(len(message.text)),
        )
    )


@st.composite
def chats(draw: DrawFn) -> tuple[Conversation, dict[str, RunRecord]]:
    """A tree of up to eight messages, and records of some of its replies."""
    messages: dict[str, Message] = {}
    for number in range(draw(st.integers(0, 8))):
        parent = draw(st.sampled_from([None, *messages]))
        role = draw(st.sampled_from(("user", "assistant")))
        name = f"m{number}"
        messages[name] = Message(
            name, parent, role, draw(CONTENT), draw(SECONDS), draw(ATTACHMENTS)
        )
    replies = [message for message in messages.values() if message.role == "assistant"]
    known = [reply for reply in replies if draw(st.booleans())]
    conversation = Conversation(
        draw(WORD),
        draw(TEXT),
        draw(SECONDS),
        draw(SECONDS),
        draw(st.booleans()),
        tuple(draw(st.lists(WORD, max_size=3))),
        draw(st.booleans()),
        leaf_id=draw(st.sampled_from(list(messages))) if messages else None,
        messages=MappingProxyType(messages),
        settings=draw(st.one_of(st.none(), SETTINGS)),
    )
    return conversation, {reply.message_id: draw(runs(reply)) for reply in known}
