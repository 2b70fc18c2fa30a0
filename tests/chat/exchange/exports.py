"""Chats as other programs export them, written for these tests after their published formats."""

from __future__ import annotations

import json
from typing import Any

# --------------------------------------------------------------------------------- LM Studio


def lm_text(text: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "text", "text": text, "fromDraftModel": False, "tokensCount": 1,
        "isStructural": False, **more,
    }  # fmt: skip


def lm_mark(text: str) -> dict[str, Any]:
    return lm_text(text, isStructural=True)


def lm_block(*contents: dict[str, Any], thinking: bool = False, **more: Any) -> dict[str, Any]:
    style = {"style": {"type": "thinking", "ended": True}} if thinking else {}
    return {"type": "contentBlock", "content": list(contents), **style, **more}


def lm_user(*contents: dict[str, Any]) -> dict[str, Any]:
    return {"type": "singleStep", "role": "user", "content": list(contents)}


def lm_reply(*steps: dict[str, Any]) -> dict[str, Any]:
    debug = {"type": "debugInfoBlock", "debugInfo": "Conversation naming technique: 'prompt'"}
    return {"type": "multiStep", "role": "assistant", "steps": [*steps, debug]}


def lm_chat(*messages: dict[str, Any] | tuple[int, list[dict[str, Any]]], **more: Any) -> Any:
    items = [m if isinstance(m, tuple) else (0, [m]) for m in messages]
    return {
        "name": "A fox",
        "createdAt": 1_764_000_000_000,
        "userLastMessagedAt": 1_764_000_001_000,
        "assistantLastMessagedAt": 1_764_000_002_000,
        "systemPrompt": "",
        "messages": [{"versions": v, "currentlySelected": chosen} for chosen, v in items],
        "perChatPredictionConfig": {"fields": []},
        "clientInput": "",
        "clientInputFiles": [],
        "notes": [],
        **more,
    }


def lm_answer(*steps: dict[str, Any]) -> Any:
    """A chat of one question and this answer."""
    return lm_chat(lm_user(lm_text("Why?")), lm_reply(*steps))


LM_CALL = {
    "type": "toolCallRequest", "callId": 1, "toolCallRequestId": "1", "name": "clock",
    "parameters": {"zone": "UTC"}, "pluginIdentifier": "mcp/clock",
}  # fmt: skip
LM_RESULT = {"type": "toolCallResult", "content": "[12:00]", "toolCallId": 1}
LM_STATUS = {"type": "toolStatus", "callId": 1, "statusState": {"status": {"type": "done"}}}
LM_FILE = {"type": "file", "fileIdentifier": "1 - a.pdf", "fileType": "pdf", "sizeBytes": 100}
LM_IMAGE = {"type": "file", "fileIdentifier": "1 - a.png", "fileType": "image", "sizeBytes": 100}

# ----------------------------------------------------------------------------------- ChatGPT


def gpt_node(
    key: str,
    parent: str | None,
    role: str = "",
    *parts: Any,
    content: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    message = None
    if role:
        kind = "text" if all(isinstance(part, str) for part in parts) else "multimodal_text"
        message = {
            "id": key,
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": 1_764_000_000.5,
            "content": content or {"content_type": kind, "parts": list(parts)},
            "metadata": {},
            "recipient": "all",
            **more,
        }
    return {"id": key, "message": message, "parent": parent, "children": []}


def gpt_chat(end: str | None, *nodes: dict[str, Any], **more: Any) -> Any:
    return {
        "title": "On reasons",
        "create_time": 1_764_000_000.25,
        "update_time": 1_764_000_009.75,
        "mapping": {node["id"]: node for node in nodes},
        "current_node": end,
        "conversation_id": "c",
        **more,
    }


def gpt_answer(*parts: Any, content: dict[str, Any] | None = None) -> Any:
    """A chat of one question and this answer."""
    answer = gpt_node("a", "q", "assistant", *parts, content=content)
    return gpt_chat("a", gpt_node("q", None, "user", "Why?"), answer)


SPOKEN = {"content_type": "audio_transcription", "text": "Hello there", "direction": "in"}
SOUND = {
    "content_type": "real_time_user_audio_video_asset_pointer",
    "frames_asset_pointers": [],
    "audio_asset_pointer": {
        "content_type": "audio_asset_pointer", "asset_pointer": "sediment://file_1",
    },
}  # fmt: skip
PICTURE = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_2"}

# -------------------------------------------------------------------------------- Open WebUI


def web_message(key: str, parent: str | None, role: str, content: str, **more: Any) -> Any:
    return {
        "id": key, "parentId": parent, "childrenIds": [], "role": role, "content": content,
        "timestamp": 1_764_000_000, "models": ["a-model"], **more,
    }  # fmt: skip


def web_chat(end: str | None, *messages: dict[str, Any], **more: Any) -> Any:
    chat = {
        "title": "A chat",
        "params": {},
        "history": {"messages": {m["id"]: m for m in messages}, "currentId": end},
        "messages": [],
        "tags": [],
        **more.pop("chat", {}),
    }
    return {
        "id": "c", "title": "A chat", "chat": chat, "updated_at": 1_764_000_009,
        "created_at": 1_764_000_000, "pinned": False, "meta": {}, **more,
    }  # fmt: skip


def web_answer(text: str) -> Any:
    """A chat of one question and this answer."""
    question = web_message("q", None, "user", "Why?")
    return web_chat("a", question, web_message("a", "q", "assistant", text))


# --------------------------------------------------------------------------------- llama.cpp


def page_message(
    key: str, parent: str | None, role: str, content: str, *, time: int = 3_000, **more: Any
) -> Any:
    return {
        "id": key, "convId": "c", "type": "text", "timestamp": time, "role": role,
        "content": content, "parent": parent, "children": [], **more,
    }  # fmt: skip


def page_chat(end: str | None, *messages: dict[str, Any], key: str = "c", **more: Any) -> Any:
    root = page_message("root", None, "system", "", time=1_000, type="root")
    return {
        "conv": {"id": key, "name": "A chat", "lastModified": 9_000, "currNode": end, **more},
        "messages": [{**message, "convId": key} for message in (root, *messages)],
    }


def page_lines(chat: Any) -> list[str]:
    head = {"harness": "llama.app", "type": "session", **chat["conv"]}
    lines = ({"message": message, "type": "message"} for message in chat["messages"])
    return [json.dumps(line, ensure_ascii=False) for line in (head, *lines)]


# ------------------------------------------------------------------------------- SillyTavern


def tavern_line(name: str, text: str, *, is_user: bool = False, **more: Any) -> dict[str, Any]:
    return {
        "name": name, "is_user": is_user, "is_system": False,
        "send_date": "2025-11-24T16:00:00.000Z", "mes": text, "extra": {}, **more,
    }  # fmt: skip


def tavern_chat(*lines: dict[str, Any], **more: Any) -> str:
    head = {
        "user_name": "Ann", "character_name": "Fox", "create_date": "2025-11-24@16h00m00s",
        "chat_metadata": {"note_prompt": "", "note_interval": 1}, **more,
    }  # fmt: skip
    return "\n".join(json.dumps(line, ensure_ascii=False) for line in (head, *lines))
