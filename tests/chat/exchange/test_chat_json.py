from __future__ import annotations

import copy
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.exchange.chats import chats
from paceline.chat.exchange import chat_json
from paceline.chat.exchange.chat_json import VERSION, dumped, folder_in, from_json, to_json
from paceline.chat.exchange.imported import ImportedChat
from paceline.chat.exchange.reading import read_chats
from paceline.content import Text
from paceline.conversation import Attachment, Folder
from paceline.errors import UserError
from storage.chats import as_of_old, chat, record

if TYPE_CHECKING:
    from paceline.conversation import Conversation
    from paceline.run_record import RunRecord


def text_of(conversation: Conversation, records: dict[str, RunRecord]) -> str:
    return "".join(dumped(to_json(conversation, records)))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(chats())
def test_what_was_exported_comes_back_as_it_was(
    made: tuple[Conversation, dict[str, RunRecord]],
) -> None:
    conversation, records = made
    data = json.loads(text_of(conversation, records), parse_constant=pytest.fail)
    assert from_json(data) == (conversation, records)
    if conversation.messages:
        chats = read_chats(text_of(conversation, records).encode(), "a.json")
        assert chats.whole == (ImportedChat(conversation, records, program="Paceline"),)


def test_a_text_is_written_as_the_version_before_reads_it() -> None:
    made = chat("c", "Why?", "Because so.")
    parts = (Text("Because "), Text("so."))
    plain, several = to_json(made, {}), to_json(made.with_content("c-1", parts), {})
    assert [message["content"] for message in several["messages"]] == ["Why?", "Because \n\nso."]
    assert not any("parts" in message for message in plain["messages"])
    assert [message.get("parts") for message in several["messages"]] == [
        None,
        ({"type": "Text", "text": "Because "}, {"type": "Text", "text": "so."}),
    ]


@pytest.fixture
def data() -> dict[str, Any]:
    """An exported chat of four messages, with a run of the second one."""
    conversation = chat("c", "Why?", "Because so.", "And?", "No.")
    made: dict[str, Any] = json.loads(
        text_of(conversation, {"c-1": record("c-1", "Because ", "so.")})
    )
    return made


def place(data: Any, path: str) -> tuple[Any, Any]:
    """Return what holds the value at a path like ``messages.1.content``, and its key there."""
    *steps, last = (int(step) if step.isdigit() else step for step in path.split("."))
    for step in steps:
        data = data[step]
    return data, last


LONG = "x" * 1_001
FILE = {"name": "a.py", "text": "x"}


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("version", "1", "version is not a number from 1 on"),
        ("version", VERSION + 1, "by a newer Paceline (format 3, known: 2)"),
        ("messages", {}, "messages is not a list"),
        ("messages.1.id", "c-0", "messages[1].id stands for another message already"),
        ("messages.1.id", "", "messages[1].id is empty"),
        ("messages.0.parent_id", "c-1", "messages[0].parent_id names no message before it ('c-1')"),
        ("messages.1.role", "system", "[1].role cannot be 'system'"),
        ("messages.1.parts", [{"type": "Smell"}], "newer Paceline (messages[1].parts[0].type is"),
        (
            "messages.1.parts",
            [{"type": "Text", "text": "", "to": 1}],
            "newer Paceline (messages[1].parts[0].to is",
        ),
        ("messages.1.parts", [{"type": "Text", "text": 5}], "messages[1].parts[0].text must be"),
        ("messages.1.created_s", -1, "messages[1].created_s is no time"),
        ("messages.1.created_s", 10**400, "must be a number that fits, not 100"),
        ("messages.0.attachments", [{"name": "a"}], "messages[0].attachments[0].text is missing"),
        ("messages.0.attachments", [{**FILE, "n_bytes": -1}], "attachments[0].n_bytes is no size"),
        ("conversation.title", 7, "conversation.title must be a text, not 7"),
        ("conversation.tags", ["a", LONG], "conversation.tags[1] has more than 1,000 characters"),
        ("conversation.id", LONG, "conversation.id has more than 1,000 characters"),
        ("conversation.changed_s", 1e12, "conversation.changed_s is no time"),
        ("conversation.leaf_id", "gone", "conversation.leaf_id names no message ('gone')"),
        ("conversation.leaf_id", None, "conversation.leaf_id is missing"),
        ("runs.0.message_id", "c-0", "runs[0].message_id names no reply"),
        ("runs.0.seed", -1, "runs[0].seed is not a number from 0 to 2^64"),
        ("runs.0.started_s", math.inf, "runs[0].started_s is no time"),
        ("runs.0.stats.decode_s", math.nan, "runs[0].stats.decode_s is no figure"),
        ("runs.0.stats.n_dreamed", 3, "newer Paceline (runs[0].stats.n_dreamed is not known)"),
        ("runs.0.stats.n_drafted", 10**30, "runs[0].stats.n_drafted is no figure"),
        ("runs.0.sampling.logit_bias.0.bias", math.inf, "runs[0].sampling.logit_bias[0] is beyond"),
        (
            "runs.0.sampling.logit_bias.0.bias",
            "inf",
            "logit_bias[0].bias must be a number, not 'inf'",
        ),
        ("runs.0.sampling.temperature", math.inf, "runs[0].sampling.temperature is beyond"),
        ("runs.0.steps.total_us", [1], "runs[0].steps.total_us has 1 values instead of 2"),
        ("runs.0.steps.names", 7, "runs[0].steps.names must be a list of texts, not 7"),
        ("runs.0.steps.names.0", 7, "runs[0].steps.names must be a list of texts, not [7"),
        ("runs.0.steps.token.0", "7", "steps.token must be a list of whole numbers, not ['7'"),
        ("runs.0.steps.source.0", 99, "steps.source has a number that is none of a name"),
        ("runs.0.steps.confidence.0", False, "confidence must be a list of numbers, not [False"),
        ("runs.0.steps.n_tokens.0", -1, "runs[0].steps has fewer than no tokens"),
        ("conversation.settings", {"sampling": {"top_k": 10**6}}, "from 0 to 100,000."),
        ("runs.0.steps.total_us.0", 10**400, "runs[0].steps has a number that does not fit"),
        ("runs.0.steps.total_us.0", -5, "runs[0].steps[0] took no time that can be"),
        ("runs.0.steps.n_drafted.0", 10**9, "runs[0].steps[0] counts what cannot be counted"),
        ("runs.0.steps.position.0", 10**9, "runs[0].steps[0] has a token that cannot be"),
        ("runs.0.steps.text_end.3", 10**9, "runs[0].steps tell of more characters"),
        ("runs.0.steps.confidence.0", 7.0, "runs[0].steps[0] has a token that cannot be"),
    ],
)
def test_every_wrong_field_is_named(
    data: dict[str, Any], path: str, value: object, words: str
) -> None:
    from_json(copy.deepcopy(data))  # it was sound
    holder, key = place(data, path)
    holder[key] = value
    with pytest.raises(UserError) as caught:
        from_json(data)
    assert words in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("limit", "most", "words"),
    [
        ("MAX_MESSAGES", 4, "messages has more than 3 entries"),
        ("MAX_TEXT_CHARS", 11, "messages[1].content has more than 10 characters"),
        ("MAX_NAME_CHARS", 4, "messages[0].attachments[0].name has more than 3 characters"),
        ("MAX_TAGS", 2, "conversation.tags has more than 1 entries"),
        ("MAX_FILES", 2, "messages[0].attachments has more than 1 entries"),
        ("MAX_PARTS", 3, "messages[1].parts has more than 2 entries"),
        ("_MAX_BYTES", 9, "messages[0].attachments[1].n_bytes is no size"),
    ],
)
def test_what_is_at_a_limit_is_taken(
    data: dict[str, Any], monkeypatch: pytest.MonkeyPatch, limit: str, most: int, words: str
) -> None:
    data["conversation"]["tags"] = ["a", "b"]
    data["messages"][0]["attachments"] = [FILE, {**FILE, "n_bytes": 9}]
    data["messages"][1]["parts"] = [{"type": "Text", "text": text} for text in ("Be", "cause", "")]
    monkeypatch.setattr(chat_json, limit, most)
    from_json(copy.deepcopy(data))
    monkeypatch.setattr(chat_json, limit, most - 1)
    with pytest.raises(UserError) as caught:
        from_json(data)
    assert words in caught.value.message


def test_runs_and_attached_texts_have_limits_too(
    data: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_json, "MAX_MESSAGES", 4)
    monkeypatch.setattr(chat_json, "MAX_TEXT_CHARS", 11)
    with pytest.raises(UserError, match="runs has more than 4 entries"):
        from_json({**data, "runs": data["runs"] * 5})
    data["messages"][0]["attachments"] = [{**FILE, "text": "x" * 12}]
    with pytest.raises(UserError, match="text has more than 11 characters"):
        from_json(data)


def test_a_chat_that_was_exported_before_there_was_an_interval(data: dict[str, Any]) -> None:
    (now,) = from_json(copy.deepcopy(data))[1].values()
    data["runs"][0] = as_of_old(data["runs"][0])
    (old,) = from_json(data)[1].values()
    assert now.stats is not None
    assert old.stats is not None
    assert (old.stats.tokens_per_s, old.stats.speedup) == (30.0, None)
    assert replace(old, stats=now.stats) == now


def test_a_chat_of_the_first_version_is_read(data: dict[str, Any]) -> None:
    data["version"] = 1
    del data["runs"][0]["stats"]["kept"]
    assert from_json(data)[1]["c-1"].stats is not None


def test_what_is_left_out_has_its_default_and_what_is_unknown_is_passed_over(
    data: dict[str, Any],
) -> None:
    message = data["messages"][0]
    del message["parent_id"], message["created_s"]
    file = {"name": "a.py", "text": "x"}
    message["attachments"] = [file, {**file, "n_bytes": 1.5, "mood": "good"}]
    message["mood"] = data["conversation"]["mood"] = data["mood"] = "good"
    read = from_json(data)[0].messages["c-0"]
    assert (read.parent_id, read.created_s) == (None, 0.0)
    assert read.attachments == (Attachment("a.py", "x", 0), Attachment("a.py", "x", 1))
    assert type(read.attachments[1].n_bytes) is int


def test_a_second_run_of_a_reply_is_refused(data: dict[str, Any]) -> None:
    data["runs"].append(data["runs"][0])
    with pytest.raises(UserError, match=r"runs\[1\].message_id has a run already"):
        from_json(data)


def test_half_an_emoji_becomes_a_question_mark(data: dict[str, Any]) -> None:
    data["messages"][0]["content"] = "a\ud83d"
    data["runs"][0]["notes"] = ["b\ude00"]
    conversation, records = from_json(data)
    assert conversation.messages["c-0"].text == "a?"
    assert records["c-1"].notes == ("b?",)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_value_in_any_field_is_accepted_or_refused(draw: st.DataObject) -> None:
    conversation = chat("c", "Why?", "Because so.")
    whole = json.loads(text_of(conversation, {"c-1": record("c-1", "Because ", "so.")}))
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in items:
            places.append((value, key))
            if isinstance(part, (dict, list)):
                walk(part)

    walk(whole)
    holder, key = draw.draw(st.sampled_from(places))
    holder[key] = draw.draw(JSON)
    try:
        read, records = from_json(whole)
    except UserError as error:
        assert error.hint or error.code == "newer-chat"  # noqa: PT017  refusing is as good
    else:
        # What is taken can be kept: it can be written once more.
        assert from_json(json.loads(text_of(read, records)))[0] == read


def test_the_folder_goes_with_a_chat() -> None:
    folder = Folder("f", "Work", "Be brief. ü")
    made = replace(chat("c", "question", "answer"), folder_id="f", archived=True)
    data = json.loads("".join(dumped(to_json(made, {}, folder=folder))))
    assert folder_in(data) == Folder("", "Work", "Be brief. ü")
    read, _ = from_json(data)
    assert (read.archived, read.folder_id) == (True, "")
    assert folder_in(to_json(made, {})) is None
    data["conversation"]["folder"]["name"] = 5
    with pytest.raises(UserError, match=r"conversation\.folder\.name"):
        from_json(data)


def test_a_file_of_the_version_before_has_no_folder() -> None:
    data = to_json(chat("c", "question"), {})
    del data["conversation"]["folder"], data["conversation"]["archived"]
    assert folder_in(data) is None
    assert not from_json(data)[0].archived
