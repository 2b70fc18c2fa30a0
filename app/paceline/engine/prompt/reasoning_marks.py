"""The texts that models write around their reasoning, in one list for engine and chat.

Vocabularies disagree about them: a converter keeps ``<think>`` as ordinary text in one file and as
a control token in the next, and those of gpt-oss (OpenAI's harmony format), Mistral and Cohere are
always control tokens. Control tokens are not shown in a reply; these are, since a program that
shows the reply could not tell reasoning from answer without them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

PAIRS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "<think:opensource>": "</think:opensource>",
    "◁think▷": "◁/think▷",
    "<mm:think>": "</mm:think>",
    "[THINK]": "[/THINK]",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|inner_prefix|>": "<|inner_suffix|>",
    "[BEGIN REASONING]": "[BEGIN FINAL RESPONSE]",
    "<|channel>thought": "<channel|>",
    "<|open|>think<|sep|>": "<|close|>think<|sep|><|open|>response<|sep|>",
    "<|think|>": "<|end|><|begin|>assistant<|content|>",
}
"""Closing by opening marks of a reasoning; the last ones, of Gemma 4, Kimi K3 and Solar, consist of
several tokens and words. The begin of the answer is part of a closing mark."""

ANSWER_BEGINS = ("<|open|>response<|sep|>", "<|content|>")
ANSWER_ENDS = ("<|close|>response<|sep|>", "<|close|>message<|sep|>")
"""Marks of Kimi K3 and Solar around an answer, with reasoning before it or without."""

FRAMES = {
    "<response>": "</response>",
    "<answer>": "</answer>",
    "<|begin_of_box|>": "<|end_of_box|>",
    "<|START_RESPONSE|>": "<|END_RESPONSE|>",
}
"""Tags of Granite, ERNIE, Hunyuan, GLM and Command around an answer that follows a reasoning;
without a reasoning the user may have asked for such tags."""
LAST_WORDS = ("[END FINAL RESPONSE]",)
"""Texts with which Apriel ends a reply."""

_SENTENCES = {"Here are my reasoning steps:": "[BEGIN REASONING]"}
"""Marks of our own for Apriel's sentence that opens the reasoning in prompts, since other models'
answers may contain the sentence, too."""

CHANNEL = re.compile(
    r"(?:<\|start\|>\w{0,40})?<\|channel\|>((?:[^<\n]|<\|constrain\|>){0,80})<\|message\|>"
)
"""Begin of a part of a gpt-oss reply, with the channel's name."""
ANALYSIS = "analysis"
"""Name of the channel of the reasoning."""
HARMONY = ("<|start|>", "<|channel|>", "<|message|>", "<|end|>")
"""Tokens of gpt-oss: the first three begin every part of a reply, and the fourth ends all but the
last."""

_PARTS = (
    ("<|channel>", "<channel|>"),
    ("[BEGIN FINAL RESPONSE]",),
    ("<|open|>", "<|close|>", "<|sep|>"),
    ("<|think|>", "<|end|>", "<|begin|>", "<|content|>"),
)
"""Control tokens of marks that consist of several tokens."""


def opened_by(prompt: str) -> str:
    """Return the mark, with the blanks after it, with which a prompt itself opens the reasoning.

    Models then write none: without it, the begin of their reasoning would be unknown.
    """
    text = prompt.rstrip()
    openings = {mark: mark for mark in PAIRS} | _SENTENCES
    mark = next((mark for end, mark in openings.items() if text.endswith(end)), "")
    return mark and mark + prompt[len(text) :]


def visible_tokens(find: Callable[[str], int | None]) -> Iterator[tuple[int, str]]:
    """Yield the tokens that are shown as text in a reply, control tokens or not.

    A mark counts only if all its tokens exist: ``<|end|>`` alone ends a message in other formats,
    which readers of the reply should not see.

    Args:
        find: Returns the id of the token with a text, or None if the vocabulary has none or it ends
            a generation.

    Yields:
        Token ids with their texts.
    """
    for marks in (*PAIRS.items(), HARMONY, *_PARTS):
        tokens = [find(mark) for mark in marks]
        for token, mark in zip(tokens, marks, strict=True):
            if token is not None and None not in tokens:
                yield token, mark
