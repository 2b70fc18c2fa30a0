"""The texts that models write around their reasoning, in one list for engine and chat.

Vocabularies disagree about them: a converter keeps ``<think>`` as ordinary text in one file and as
a control token in the next, and those of gpt-oss (OpenAI's harmony format), Mistral and Cohere are
control tokens always. A control token is no text in a reply; these are, since the program that
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
"""What begins the reasoning, and what ends it; the last are those of Gemma 4, Kimi K3 and Solar, of
several tokens and words. Where the answer begins is a part of what ends the reasoning."""

ANSWER_BEGINS = ("<|open|>response<|sep|>", "<|content|>")
ANSWER_ENDS = ("<|close|>response<|sep|>", "<|close|>message<|sep|>")
"""What Kimi K3 and Solar write around an answer, with reasoning before it or without."""

FRAMES = {
    "<response>": "</response>",
    "<answer>": "</answer>",
    "<|begin_of_box|>": "<|end_of_box|>",
    "<|START_RESPONSE|>": "<|END_RESPONSE|>",
}
"""What Granite, ERNIE, Hunyuan, GLM and Command write around an answer that follows a reasoning;
without one, such tags may be what the user has asked for."""
LAST_WORDS = ("[END FINAL RESPONSE]",)
"""What Apriel ends a reply with."""

_SENTENCES = {"Here are my reasoning steps:": "[BEGIN REASONING]"}
"""Apriel's prompts open the reasoning with a sentence, which stands in other models' answers, too;
so its replies begin with a mark of our own."""

CHANNEL = re.compile(
    r"(?:<\|start\|>\w{0,40})?<\|channel\|>((?:[^<\n]|<\|constrain\|>){0,80})<\|message\|>"
)
"""What begins a part of a gpt-oss reply, with the channel's name."""
ANALYSIS = "analysis"
"""The channel of the reasoning."""
HARMONY = ("<|start|>", "<|channel|>", "<|message|>", "<|end|>")
"""gpt-oss begins every part of a reply with the first three, and ends all but the last."""

_PARTS = (
    ("<|channel>", "<channel|>"),
    ("[BEGIN FINAL RESPONSE]",),
    ("<|open|>", "<|close|>", "<|sep|>"),
    ("<|think|>", "<|end|>", "<|begin|>", "<|content|>"),
)
"""Control tokens of marks that are more than a token."""


def opened_by(prompt: str) -> str:
    """Return the mark, with the blanks after it, by which a prompt opens the reasoning itself.

    Models then write none: without it, nothing tells where their reasoning begins.
    """
    text = prompt.rstrip()
    openings = {mark: mark for mark in PAIRS} | _SENTENCES
    mark = next((mark for end, mark in openings.items() if text.endswith(end)), "")
    return mark and mark + prompt[len(text) :]


def visible_tokens(find: Callable[[str], int | None]) -> Iterator[tuple[int, str]]:
    """Tell which tokens are text in a reply, control tokens or not, and the text.

    A mark counts only with all that belong to it: ``<|end|>`` alone ends a message in other
    formats, which readers of the reply should not see.

    Args:
        find: The id of the token that is written so; None: the vocabulary has none, or it ends a
            generation.

    Yields:
        Token ids with their texts.
    """
    for marks in (*PAIRS.items(), HARMONY, *_PARTS):
        tokens = [find(mark) for mark in marks]
        for token, mark in zip(tokens, marks, strict=True):
            if token is not None and None not in tokens:
                yield token, mark
