"""Exports of other programs, with the peculiarities of each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.exchange import exports as ex
from paceline.chat.exchange.imported import ImportedChat, LeftOut
from paceline.chat.exchange.reading import read_chats
from paceline.chat.exchange.reply_text import ReplyText, with_reasoning
from paceline.chat.reasoning import answer_of, reasoning_of

if TYPE_CHECKING:
    from paceline.conversation import Conversation


def read(data: object) -> ImportedChat:
    text = data if isinstance(data, str) else json.dumps(data)
    chats = read_chats(text.encode(), "file.json")
    (chat,) = chats.whole
    assert not chats.damaged
    return chat


def said(chat: ImportedChat) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in chat.conversation.path()]


def reply(data: object) -> str:
    """The last message of the only chat in it."""
    return said(read(data))[-1][1]


def lost(chat: ImportedChat) -> Mapping[LeftOut, int]:
    return dict(chat.left_out)


# --------------------------------------------------------------------------------- LM Studio


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_no_piece_gets_anything_between(pieces: list[str]) -> None:
    block = ex.lm_block(*map(ex.lm_text, pieces))
    chat = ex.lm_chat(ex.lm_user(ex.lm_text("Go")), ex.lm_reply(block))
    expected = [("user", "Go"), ("assistant", "".join(pieces))]
    assert said(read(chat)) == (expected if "".join(pieces).strip() else expected[:1])


@pytest.mark.parametrize(
    "marked",
    [
        [ex.lm_text("Hmm."), ex.lm_text(" Well.")],
        [ex.lm_mark("<think>"), ex.lm_text("Hmm. Well."), ex.lm_mark("</think>")],
        [ex.lm_text("<think>\nHmm."), ex.lm_text(" Well.\n</think>")],
        [ex.lm_text("\nHmm. Well."), ex.lm_mark("</think>\n")],
        [ex.lm_mark("[THINK]"), ex.lm_text("Hmm. Well."), ex.lm_mark("[/THINK]")],
    ],
)
def test_marks_of_thinking_are_marks_once(marked: list[dict[str, Any]]) -> None:
    blocks = ex.lm_block(*marked, thinking=True), ex.lm_block(ex.lm_text("So."))
    assert reply(ex.lm_answer(*blocks)) == "<think>\nHmm. Well.\n</think>\n\nSo."


def test_marks_in_a_block_without_a_style_are_marks_too() -> None:
    marked = ex.lm_mark("<think>"), ex.lm_text("Hmm."), ex.lm_mark("</think>")
    block = ex.lm_block(*marked, ex.lm_text("So."), ex.lm_mark("<|return|>"))
    text = reply(ex.lm_answer(block))
    assert (reasoning_of(text), answer_of(text)) == ("Hmm.", "So.")


def test_text_before_and_after_a_tool_call_does_not_run_together() -> None:
    steps = (
        ex.lm_block(ex.lm_text("I look it up.")),
        ex.lm_block(ex.LM_CALL),
        ex.LM_STATUS,
        ex.lm_block(ex.LM_RESULT, roleOverride="tool"),
        ex.lm_block(ex.lm_text("Noon, it seems."), thinking=True),
        ex.lm_block(ex.lm_text("It is "), ex.lm_text("noon.")),
    )
    chat = read(ex.lm_answer(*steps))
    wanted = "I look it up.\n\n<think>\nNoon, it seems.\n</think>\n\nIt is noon."
    assert said(chat)[-1][1] == wanted
    assert lost(chat) == {"tools": 2}


def test_what_lm_studio_chats_lose_is_counted_and_the_prompt_is_kept() -> None:
    own = {"fields": [{"key": "llm.prediction.systemPrompt", "value": "Be kind."}]}
    chat = read(
        ex.lm_chat(
            ex.lm_user(ex.lm_text("Look"), ex.LM_FILE, ex.LM_IMAGE, {"type": "new"}),
            ex.lm_reply(ex.lm_block(ex.lm_text("Nice."))),
            systemPrompt="Be brief.",
            perChatPredictionConfig=own,
            clientInput="And now",
            clientInputFiles=[ex.LM_IMAGE],
            notes=[{"content": "ask again"}],
        )
    )
    assert lost(chat) == {"files": 1, "images": 2, "other": 1, "drafts": 1, "notes": 1}
    assert chat.system_prompt == "Be kind."
    conversation = chat.conversation
    assert (conversation.created_s, conversation.changed_s) == (1_764_000_000, 1_764_000_002)
    usual = ex.lm_chat(ex.lm_user(ex.lm_text("Hi")), systemPrompt="Be brief.")
    assert read(usual).system_prompt == "Be brief."


def test_versions_in_lm_studio_are_versions() -> None:
    replies = [ex.lm_reply(ex.lm_block(ex.lm_text(text))) for text in ("One", "Two", "Three")]
    chat = read(ex.lm_chat(ex.lm_user(ex.lm_text("Count")), (1, replies)))
    assert said(chat) == [("user", "Count"), ("assistant", "Two")]
    path = chat.conversation.path()
    versions = chat.conversation.versions(path[-1].message_id)
    assert [m.text for m in versions] == ["One", "Two", "Three"]


# ----------------------------------------------------------------------------------- ChatGPT


def test_what_was_spoken_is_text() -> None:
    answer = {"content_type": "audio_transcription", "text": "Hi!", "direction": "out"}
    chat = read(
        ex.gpt_chat(
            "a",
            ex.gpt_node("r", None),
            ex.gpt_node("q", "r", "user", ex.SPOKEN, ex.SOUND),
            ex.gpt_node("a", "q", "assistant", answer, ex.SOUND),
        )
    )
    assert said(chat) == [("user", "Hello there"), ("assistant", "Hi!")]
    assert lost(chat) == {"recordings": 2}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See \ue200cite\ue202turn0search1\ue201 for more.", "See for more."),
        ("It is so.\ue200cite\ue202turn0search1\ue202turn0news2\ue201", "It is so."),
        ("So \ue200cite\ue202turn0search1\ue201.", "So."),
        ("So \ue200cite\ue202a\ue201\ue200cite\ue202b\ue201 it is.", "So it is."),
        ('By \ue200entity\ue202["person","Ada","the first"]\ue201, she said.', "By Ada, she said."),
        ("In \ue200url\ue202The book\ue202turn0search1\ue201 it is.", "In The book it is."),
        ("\ue203It is so.\ue204 \ue200cite\ue202turn0search1\ue201", "It is so."),
        ("It was cut \ue200cite\ue202turn0sea", "It was cut"),
    ],
)
def test_marks_of_sources_go(text: str, shown: str) -> None:
    assert reply(ex.gpt_answer(text)) == shown


WORDS = st.text(st.sampled_from("ab ,.\n"), max_size=8)
SOURCES = st.lists(st.sampled_from(["turn0search1", "turn2news3"]), min_size=1, max_size=3)


@given(st.lists(st.tuples(WORDS, SOURCES), max_size=4), WORDS)
def test_nothing_but_marks_goes(cites: list[tuple[str, list[str]]], end: str) -> None:
    marked = [text + "\ue200cite\ue202" + "\ue202".join(names) + "\ue201" for text, names in cites]
    kept = "".join(text for text, _ in cites) + end + "!"
    shown = reply(ex.gpt_answer("".join(marked) + end + "!"))
    assert shown.replace(" ", "") == kept.replace(" ", "")


def test_a_users_own_signs_of_that_range_stay() -> None:
    chat = ex.gpt_chat("q", ex.gpt_node("q", None, "user", "The glyph \ue200 is odd."))
    assert reply(chat) == "The glyph \ue200 is odd."


def test_thoughts_of_chatgpt_stand_before_the_reply_that_followed() -> None:
    first, second = ({"summary": "Looking", "content": "Hmm."}, {"summary": "", "content": "Aha."})
    thoughts, more = ({"content_type": "thoughts", "thoughts": [each]} for each in (first, second))
    called = {"content_type": "code", "text": "search()"}
    recap = {"content_type": "reasoning_recap", "content": "Thought for 3s"}
    chat = read(
        ex.gpt_chat(
            "a",
            ex.gpt_node("q", None, "user", "Why?"),
            ex.gpt_node("t", "q", "assistant", content=thoughts),
            ex.gpt_node("c", "t", "assistant", content=called, recipient="web"),
            ex.gpt_node("o", "c", "tool", "found"),
            ex.gpt_node("t2", "o", "assistant", content=more),
            ex.gpt_node("r", "t2", "assistant", content=recap),
            ex.gpt_node("a", "r", "assistant", "So."),
        )
    )
    assert said(chat) == [
        ("user", "Why?"),
        ("assistant", "<think>\nLooking\nHmm.\n\nAha.\n</think>\n\nSo."),
    ]
    assert lost(chat) == {"tools": 2}


@pytest.mark.parametrize("then", [(), ("user", "Go on")])
def test_thoughts_without_a_reply_are_kept(then: tuple[str, ...]) -> None:
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "", "content": "Hmm."}]}
    nodes = [
        ex.gpt_node("q", None, "user", "Why?"),
        ex.gpt_node("t", "q", "assistant", content=thoughts),
    ]
    nodes += [ex.gpt_node("n", "t", *then)] if then else []
    kept = [("user", "Why?"), ("assistant", "<think>\nHmm.\n</think>")]
    assert said(read(ex.gpt_chat(nodes[-1]["id"], *nodes))) == [*kept, *([then] if then else [])]


def test_what_chatgpt_chats_lose_is_counted_and_instructions_are_the_prompt() -> None:
    hidden = {"is_visually_hidden_from_conversation": True}
    instructions = {
        "content_type": "user_editable_context",
        "user_profile": "I am Ann.",
        "user_instructions": "Be brief.",
    }
    attached = [{"name": "a.pdf", "mimeType": "application/pdf"}, {"mimeType": "image/png"}]
    code = {"content_type": "code", "language": "python", "text": "x = 1"}
    chat = read(
        ex.gpt_chat(
            "a",
            ex.gpt_node("r", None),
            ex.gpt_node("s", "r", "system", "Old instructions no longer count.", metadata=hidden),
            ex.gpt_node("u", "s", "user", content=instructions, metadata=hidden),
            ex.gpt_node("q", "u", "user", "Look", ex.PICTURE, metadata={"attachments": attached}),
            ex.gpt_node("t", "q", "tool", ex.PICTURE),
            ex.gpt_node("v", "t", "user", {"asset_pointer": "a picture without its kind"}),
            ex.gpt_node("a", "v", "assistant", content=code),
        )
    )
    assert said(chat) == [("user", "Look"), ("assistant", "```python\nx = 1\n```")]
    assert chat.system_prompt == "I am Ann.\n\nBe brief."
    assert lost(chat) == {"system": 1, "images": 3, "files": 1, "tools": 1}


def test_branches_of_chatgpt_stay_and_the_shown_one_is_shown() -> None:
    chat = read(
        ex.gpt_chat(
            "a1",
            ex.gpt_node("q", None, "user", "Why?"),
            ex.gpt_node("a1", "q", "assistant", "So.", create_time=5),
            ex.gpt_node("a2", "q", "assistant", "Because.", create_time=6),
        )
    )
    assert said(chat)[-1] == ("assistant", "So.")
    assert [m.text for m in chat.conversation.versions("a1")] == ["So.", "Because."]


# -------------------------------------------------------------------------------- Open WebUI

REASONED = (
    '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 s</summary>\n'
    "&gt; Is 1 &lt; 2?\n&gt; Yes.\n</details>\nIt is.\n"
)
CALLED = (
    '<details type="tool_calls" done="true" id="1" name="clock" arguments="{}" result="12"'
    ' files="">\n<summary>Tool Executed</summary>\n</details>\n'
)
RAN = (
    '<details type="code_interpreter" done="true" duration="1" output="&quot;3&quot;">\n'
    "<summary>Analyzed</summary>\n```python\n1 + 2\n```\n</details>\n"
)


def test_a_chat_of_open_webui() -> None:
    attached = {"type": "file", "name": "a.txt", "file": {"data": {"content": "x = 1"}}}
    files = [attached, {"type": "image", "url": "data:,"}, {"type": "collection"}]
    chat = read(
        [
            ex.web_chat(
                "b",
                ex.web_message("q", None, "user", "Why?", files=files),
                ex.web_message("a", "q", "assistant", "So.", timestamp=1_764_000_005),
                ex.web_message("b", "q", "assistant", REASONED, timestamp=1_764_000_004),
                chat={"params": {"system": "Be brief."}},
                pinned=True,
                meta={"tags": ["logic"]},
            )
        ]
    )
    assert said(chat) == [
        ("user", "Why?"),
        ("assistant", "<think>\nIs 1 < 2?\nYes.\n</think>\n\nIt is."),
    ]
    conversation: Conversation = chat.conversation
    assert [m.text for m in conversation.siblings("b")][1] == "So."
    (file,) = conversation.messages["q"].attachments
    assert (file.name, file.text) == ("a.txt", "x = 1")
    assert (conversation.title, conversation.pinned) == ("A chat", True)
    assert conversation.tags == ("logic",)
    assert (conversation.created_s, conversation.changed_s) == (1_764_000_000, 1_764_000_009)
    assert (chat.system_prompt, lost(chat)) == ("Be brief.", {"images": 1, "files": 1})


def test_tools_in_a_reply_of_open_webui_part_its_text() -> None:
    chat = read(ex.web_answer(f"I look.\n{CALLED}It is noon.\n{RAN}So 3."))
    assert said(chat)[-1][1] == "I look.\n\nIt is noon.\n\n```python\n1 + 2\n```\n\nSo 3."
    assert lost(chat) == {"tools": 2}


def test_other_details_in_a_reply_of_open_webui_stay() -> None:
    text = "<details>\n<summary>More</summary>\n> a quotation\n</details>"
    assert reply(ex.web_answer(text)) == text


# --------------------------------------------------------------------------------- llama.cpp


def test_a_chat_of_llama_cpps_page_in_its_lines() -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "clock"}}]
    extra = [
        {"type": "TEXT", "name": "a.py", "content": "x = 1"},
        {"type": "IMAGE", "name": "a.png", "base64Url": "data:,"},
        {"type": "AUDIO", "name": "a.wav", "base64Data": "", "mimeType": "audio/wav"},
        {"type": "PDF", "name": "a.pdf", "content": "pages", "base64Data": ""},
    ]
    chat = ex.page_chat(
        "a2",
        ex.page_message("s", "root", "system", "Be brief."),
        ex.page_message("q", "s", "user", "What time?\u2028Now.", extra=extra),
        ex.page_message("a1", "q", "assistant", "", reasoningContent="A clock.", toolCalls=calls),
        ex.page_message("t", "a1", "tool", "12:00", toolCallId="1"),
        ex.page_message("a2", "t", "assistant", "Noon.", reasoningContent="So noon."),
    )
    imported = read("\n".join(ex.page_lines(chat)))
    assert said(imported) == [
        ("user", "What time?\u2028Now."),
        ("assistant", "<think>\nA clock.\n\nSo noon.\n</think>\n\nNoon."),
    ]
    assert imported.system_prompt == "Be brief."
    assert lost(imported) == {"images": 1, "recordings": 1, "tools": 2}
    files = imported.conversation.messages["q"].attachments
    assert [(file.name, file.text) for file in files] == [("a.py", "x = 1"), ("a.pdf", "pages")]
    assert read(chat) == imported, "as JSON of earlier versions"
    chat["messages"][3]["toolCalls"] = json.dumps(calls)
    assert read([chat]) == imported


def test_marks_of_earlier_versions_of_llama_cpps_page_are_marks() -> None:
    text = (
        "<<<reasoning_content_start>>>Hmm.<<<reasoning_content_end>>>I look.\n\n"
        "<<<AGENTIC_TOOL_CALL_START>>>\n<<<TOOL_NAME:clock>>>\n<<<TOOL_ARGS_START>>>\n{}"
        "<<<TOOL_ARGS_END>>>\n12\n<<<AGENTIC_TOOL_CALL_END>>>\nNoon."
    )
    question = ex.page_message("q", "root", "user", "?")
    chat = read(ex.page_chat("a", question, ex.page_message("a", "q", "assistant", text)))
    assert said(chat)[-1][1] == "<think>\nHmm.\n</think>\n\nI look.\n\nNoon."
    assert lost(chat) == {"tools": 1}


def test_numbers_are_ids_too() -> None:
    chat = {
        "conv": {"id": "conv-1", "name": "Old", "lastModified": 9_000, "currNode": 3},
        "messages": [
            {"id": 1, "parent": -1, "type": "root", "role": "system", "content": ""},
            {"id": 2, "parent": 1, "type": "text", "role": "user", "content": "Why?"},
            {"id": 3, "parent": 2, "type": "text", "role": "assistant", "content": "So."},
        ],
    }
    assert said(read(chat)) == [("user", "Why?"), ("assistant", "So.")]


@given(st.data())
def test_the_newest_is_shown_whatever_the_order_of_the_file(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 12))
    times = data.draw(st.lists(st.integers(1, 10**6), min_size=n, max_size=n, unique=True))
    parents = [data.draw(st.integers(0, i - 1)) if i else None for i in range(n)]
    for i, parent in enumerate(parents):
        if parent is not None:
            times[i] = max(times[i], times[parent] + 1)
    messages = [
        ex.page_message(
            str(i), "root" if parent is None else str(parent), "user", f"text {i}", time=times[i]
        )
        for i, parent in enumerate(parents)
    ]
    shuffled = data.draw(st.permutations(messages))
    end = data.draw(st.sampled_from(["", None, "gone"]))
    shown = said(read(ex.page_chat(end, *shuffled)))[-1][1]
    assert times[int(shown.split()[1])] == max(times)


# ------------------------------------------------------------------------------- SillyTavern


def test_a_chat_of_silly_tavern_with_swipes() -> None:
    infos = [
        {"send_date": f"2025-11-24T16:00:0{n + 4}.000Z", "extra": {"reasoning": f"Hm {n}."}}
        for n in (1, 2)
    ]
    reply = ex.tavern_line(
        "Fox", "Second.", swipe_id=1, swipes=["First.", "Second.", "Third."],
        swipe_info=[*infos, {"send_date": "2025-11-24T16:00:07.000Z", "extra": {}}], **infos[1],
    )  # fmt: skip
    called = {"tool_invocations": [{"id": "1", "name": "clock", "result": "12"}]}
    media = [{"type": "image", "url": "/a"}, {"type": "video", "url": "/b"}]
    file = {"url": "/a.txt", "name": "a"}
    chat = read(
        ex.tavern_chat(
            ex.tavern_line("Fox", "*appears* Hello."),
            ex.tavern_line("Ann", "Who are you?", is_user=True, extra={"file": file}),
            ex.tavern_line("System", "Tool calls: clock", is_system=True, extra=called),
            reply,
            ex.tavern_line("Ann", "Look", is_user=True, extra={"media": media}),
            ex.tavern_line("Ann", "a comment", is_system=True, extra={"type": "comment"}),
            ex.tavern_line("Fox", "Hidden, but said.", is_system=True),
            chat_metadata={"note_prompt": "Rain."},
        )
    )
    assert said(chat) == [
        ("assistant", "*appears* Hello."),
        ("user", "Who are you?"),
        ("assistant", "<think>\nHm 2.\n</think>\n\nSecond."),
        ("user", "Look"),
        ("assistant", "Hidden, but said."),
    ]
    swiped = chat.conversation.path()[2]
    assert [m.text for m in chat.conversation.siblings(swiped.message_id)] == [
        "<think>\nHm 1.\n</think>\n\nFirst.",
        "<think>\nHm 2.\n</think>\n\nSecond.",
        "Third.",
    ]
    assert swiped.created_s == 1_764_000_006
    counts = dict.fromkeys(("tools", "files", "images", "recordings", "system", "notes"), 1)
    assert (lost(chat), chat.conversation.title) == (counts, "Fox")


def test_characters_of_a_group_are_named() -> None:
    lines = [
        ex.tavern_line("Fox", "Hi."),
        ex.tavern_line("Owl", "Hello."),
        ex.tavern_line("Ann", "Hey", is_user=True),
    ]
    chat = read(ex.tavern_chat(*lines, character_name="unused", user_name="unused"))
    assert [text for _, text in said(chat)] == ["Fox: Hi.", "Owl: Hello.", "Hey"]
    assert chat.conversation.title == "Hey"


@pytest.mark.parametrize(
    "written", ["2025-11-24T16:00:00.000Z", 1_764_000_000_000, "2025-11-24T17:00:00+01:00"]
)
def test_times_of_silly_tavern(written: object) -> None:
    chat = read(ex.tavern_chat(ex.tavern_line("Fox", "Hi.", send_date=written)))
    assert chat.conversation.path()[0].created_s == 1_764_000_000


@pytest.mark.parametrize(
    "written", ["2025-11-24@16h00m00s", "2025-11-24 @16h 00m 00s 000ms", "November 24, 2025 4:00pm"]
)
def test_local_times_of_silly_tavern(written: str) -> None:
    chat = read(ex.tavern_chat(ex.tavern_line("Fox", "Hi.", send_date=written)))
    assert abs(chat.conversation.path()[0].created_s - 1_764_000_000) <= 14 * 3_600


# ----------------------------------------------------------------------------- text of replies


PIECE = st.text(st.sampled_from("ab .,\n"), min_size=1, max_size=12).filter(str.strip)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("answer"), PIECE),
        st.tuples(st.just("reasoning"), PIECE),
        st.tuples(st.just("gap"), st.just("")),
    ),
    max_size=8,
)


@given(STEPS)
def test_answer_and_reasoning_come_apart_again(steps: list[tuple[str, str]]) -> None:
    text = ReplyText()
    for kind, piece in steps:
        if kind == "gap":
            text.gap()
        else:
            text.add(piece, is_reasoning=kind == "reasoning")
    whole = text.text()
    for kind, found in (("answer", answer_of(whole)), ("reasoning", reasoning_of(whole))):
        expected = "".join(piece for this, piece in steps if this == kind)
        if kind == "reasoning" or expected:
            assert "".join(found.split()) == "".join(expected.split())


@given(PIECE, st.sampled_from(["</think>", "<think>", "[/THINK]", "</thinking>", ""]), PIECE)
def test_reasoning_that_names_a_mark_stays_reasoning(before: str, mark: str, after: str) -> None:
    text = with_reasoning(f"a {before}{mark}{after} z", "The answer.")
    assert answer_of(text).strip() == "The answer."
    assert mark in reasoning_of(text)


# ------------------------------------------------------------------------------ odd shapes


PARTS = [{"type": "text", "text": "One"}, {"type": "image_url", "image_url": {}}, "two", {"x": 1}]


@pytest.mark.parametrize(
    "data",
    [
        ex.page_chat("1", ex.page_message("1", None, "user", PARTS)),  # type: ignore[arg-type]
        ex.web_chat("1", ex.web_message("1", None, "user", PARTS)),  # type: ignore[arg-type]
    ],
)
def test_a_text_in_parts_is_read_and_other_parts_are_counted(data: object) -> None:
    chat = read(data)
    assert said(chat) == [("user", "One\ntwo")]
    assert lost(chat) == {"images": 1, "other": 1}


@pytest.mark.parametrize("role", ["critic", "User", None, 5, ["user"]])
def test_what_somebody_else_wrote_is_counted(role: Any) -> None:
    data = [
        made("2", message("1", None, "user", "Go"), message("2", "1", role, "Lost"))
        for made, message in ((ex.page_chat, ex.page_message), (ex.web_chat, ex.web_message))
    ]
    data += [ex.lm_chat(ex.lm_user(ex.lm_text("Go")), (0, [{"role": role, "content": "Lost"}]))]
    for chat in map(read, data):
        assert (said(chat), lost(chat)) == ([("user", "Go")], {"other": 1})


def test_contents_of_chatgpt_of_an_unknown_shape_are_counted_or_read() -> None:
    contents: list[dict[str, Any]] = [
        {"content_type": "canvas", "canvas": {"lines": ["a"]}},
        {"content_type": "text", "parts": [""]},
        {"content_type": "model_editable_context", "model_set_context": ""},
        {"content_type": "text", "parts": ["So \ue200cite"]},
    ]
    nodes = [ex.gpt_node("0", None, "user", content={"content_type": "text", "parts": "Go"})]
    for number, content in enumerate(contents, 1):
        nodes.append(ex.gpt_node(f"{number}", f"{number - 1}", "assistant", content=content))
    chat = read(ex.gpt_chat("4", *nodes))
    assert said(chat) == [("user", "Go"), ("assistant", "So")]
    assert lost(chat) == {"other": 1}


@pytest.mark.parametrize(("code", "fence"), [("a", "```"), ("`a`", "```"), ("```\na\n```", "````")])
def test_code_of_chatgpt_does_not_end_its_fence(code: str, fence: str) -> None:
    content = {"content_type": "code", "language": "python", "text": code}
    assert reply(ex.gpt_answer(content=content)) == f"{fence}python\n{code}\n{fence}"


def test_details_that_a_thought_quotes_do_not_end_it() -> None:
    text = (
        '<details type="reasoning" done="true">\n<summary>Thought</summary>\n> A <details>\n> b\n'
        "> </details>\n> c\n</details>\nSo."
    )
    found = reply(ex.web_answer(text))
    assert (reasoning_of(found), answer_of(found)) == ("A <details>\nb\n</details>\nc", "So.")


@pytest.mark.parametrize("chosen", [2, -1, None, "0"])
@pytest.mark.parametrize(("text", "others"), [("Two", ["One"]), ("Three", ["One", "Two"])])
def test_all_swipes_stay_if_none_of_them_is_said_to_be_shown(
    chosen: object, text: str, others: list[str]
) -> None:
    line = ex.tavern_line("Ann", text, swipes=["One", "Two"], swipe_id=chosen)
    chat = read(ex.tavern_chat(ex.tavern_line("Me", "Go", is_user=True), line))
    assert said(chat) == [("user", "Go"), ("assistant", text)]
    last = chat.conversation.path()[-1]
    versions = chat.conversation.siblings(last.message_id)
    assert [version.text for version in versions if version != last] == others
