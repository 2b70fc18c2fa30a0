"""Chat formats for models whose file has no chat template, mostly base models.

Vocabularies are made for a family, so control tokens in one show the format of its chat models. But
base models have not learned them: Gemma 3 270M repeats itself after them, and answers the same
question written as plain text, which every model can continue (decision 075).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from paceline.sentence import sentence

if TYPE_CHECKING:
    from paceline.engine.model.backend import Vocabulary


class Format(NamedTuple):
    """A chat format.

    Attributes:
        name: Name for users and for `paceline chat --template`.
        marks: Control tokens that a vocabulary must have for it; empty for any vocabulary.
        source: The template in Jinja.
    """

    name: str
    marks: tuple[str, ...]
    source: str


def _turns(user: str, assistant: str, end: str, system: str = "", begin: str = "") -> str:
    """Return a template that puts texts around the turns; without `system` it has no such role."""
    refusal = "{{ raise_exception('There is no system role') }}"
    before = f"{system}{{{{ m.content }}}}{end}" if system else refusal
    return (
        f"{begin}{{% for m in messages %}}"
        f"{{% if m.role == 'system' %}}{before}"
        f"{{% elif m.role == 'user' %}}{user}{{{{ m.content }}}}{end}"
        f"{{% else %}}{assistant}{{{{ m.content }}}}{end}{{% endif %}}"
        f"{{% endfor %}}{{% if add_generation_prompt %}}{assistant}{{% endif %}}"
    )


CHATML = Format(
    "chatml",
    ("<|im_start|>", "<|im_end|>"),
    _turns(
        "<|im_start|>user\n",
        "<|im_start|>assistant\n",
        "<|im_end|>\n",
        system="<|im_start|>system\n",
    ),
)
PLAIN = Format(
    "plain",
    (),
    """\
{% for m in messages %}
{% if m.role == 'system' %}
{{ m.content }}

{% else %}
{{ m.role | capitalize }}: {{ m.content | trim }}
{% endif %}
{% endfor %}
{% if add_generation_prompt %}
Assistant:
{%- endif %}""",
)
CONTINUE = Format("continue", (), "{% for m in messages %}{{ m.content }}{% endfor %}")
FORMATS = (
    CHATML,
    Format(
        "gemma",
        ("<start_of_turn>", "<end_of_turn>"),
        _turns(
            "<start_of_turn>user\n",
            "<start_of_turn>model\n",
            "<end_of_turn>\n",
            begin="{{ bos_token }}",
        ),
    ),
    Format(
        "llama3",
        ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
        _turns(
            "<|start_header_id|>user<|end_header_id|>\n\n",
            "<|start_header_id|>assistant<|end_header_id|>\n\n",
            "<|eot_id|>",
            system="<|start_header_id|>system<|end_header_id|>\n\n",
            begin="{{ bos_token }}",
        ),
    ),
    Format(
        "phi",
        ("<|user|>", "<|assistant|>", "<|end|>"),
        _turns("<|user|>\n", "<|assistant|>\n", "<|end|>\n", system="<|system|>\n"),
    ),
    Format(
        "mistral",
        ("[INST]", "[/INST]"),
        "{{ bos_token }}{% for m in messages %}"
        "{% if m.role == 'system' %}{{ raise_exception('There is no system role') }}"
        "{% elif m.role == 'user' %}[INST]{{ m.content }}[/INST]"
        "{% else %}{{ m.content }}{{ eos_token }}{% endif %}{% endfor %}",
    ),
    PLAIN,
    CONTINUE,
)
"""All formats, in the order in which they are tried."""
_OF_CHATS = re.compile(r"(?<![a-z])(instruct|chat|it|assistant)(?![a-z])", re.IGNORECASE)


def guess(vocab: Vocabulary, name: str) -> Format:
    """Return the plain format, or the vocabulary's for the name of a chat model.

    Args:
        vocab: The model's vocabulary.
        name: Name of the model or its file.
    """
    known = family_of(vocab)
    return known if known is not None and _OF_CHATS.search(name) else PLAIN


def family_of(vocab: Vocabulary) -> Format | None:
    """Return the format whose marks are all single tokens of the vocabulary, or None."""
    return next(
        (
            known
            for known in FORMATS
            if known.marks
            and all(len(vocab.tokenize(mark, special=True)) == 1 for mark in known.marks)
        ),
        None,
    )


def words_on(guessed: Format, vocab: Vocabulary) -> str:
    """Return notes for the user about a file without a template, as sentences."""
    if guessed.marks:
        return sentence(
            "The file has no chat template. By its name it was made to chat, and its "
            "vocabulary has {marks}: so the template {name} is taken, which is a "
            "guess.",
            marks=guessed.marks[0],
            name=guessed.name,
        )
    words = sentence(
        "This is probably a base model: it goes on with a text and was not made to chat. It has "
        "no chat template, so the chat is written as a text with “User:” and “Assistant:”, and a "
        "reply ends before the next turn."
    )
    family = family_of(vocab)
    if family is None:
        return words
    return sentence(
        "{words} If it was made to chat, choose the chat template {name}.",
        words=words,
        name=family.name,
    )
