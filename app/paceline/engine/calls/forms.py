"""The forms in which model families write calls of tools.

Each is the form of the family's chat templates, with which its models were trained.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from paceline.engine.calls.form import (
    ARGUMENTS,
    ID,
    NAME,
    CallForm,
    OneText,
    Perhaps,
    PythonArguments,
    TaggedArguments,
)

if TYPE_CHECKING:
    from paceline.engine.model.backend import Vocabulary

_NAMED = ('{"name": "', NAME, '", "arguments": ', ARGUMENTS, "}")
_NAMED_WITH_ID = (*_NAMED[:-1], Perhaps((', "id": "', ID, '"')), "}")
_DSML = (
    NAME,
    '">\n',
    TaggedArguments(
        '<｜DSML｜parameter name="',
        '" string="true">',
        "</｜DSML｜parameter>\n",
        '" string="false">',
    ),
    "</｜DSML｜invoke>\n",
)

HERMES = CallForm(
    id="hermes",
    template_patterns=("<tool_call>",),
    marks=("<tool_call>",),
    begin="\n",
    call=_NAMED,
    between="\n</tool_call>\n<tool_call>\n",
    end="\n</tool_call>",
)
"""The form of Hermes and Qwen, which other families use as well; the default."""

FORMS = (
    CallForm(
        id="harmony",
        template_patterns=(r"<\|channel\|>", r"functions\."),
        marks=(
            "<|channel|>commentary to=functions.",
            "<|start|>assistant<|channel|>commentary to=functions.",
            "<|start|>assistant to=functions.",
        ),
        call=(
            NAME,
            OneText(
                (
                    " <|constrain|>json<|message|>",
                    "<|message|>",
                    "<|channel|>commentary <|constrain|>json<|message|>",
                    "<|channel|>commentary json<|message|>",
                )
            ),
            ARGUMENTS,
        ),
        is_framed=True,
        is_compact=True,
        reasoning=("<|channel|>analysis<|message|>", "<|end|><|start|>assistant"),
    ),
    *(
        CallForm(
            id=f"dsml-{block}",
            template_patterns=("｜DSML｜", f"{block}>"),
            marks=(f"<｜DSML｜{block}>",),
            begin='\n<｜DSML｜invoke name="',
            call=_DSML,
            between='<｜DSML｜invoke name="',
            end=f"</｜DSML｜{block}>",
        )
        for block in ("function_calls", "tool_calls")
    ),
    CallForm(
        id="deepseek-json",
        template_patterns=("<｜tool▁calls▁begin｜>", "```json"),
        marks=("<｜tool▁calls▁begin｜>",),
        begin="<｜tool▁call▁begin｜>",
        call=("function<｜tool▁sep｜>", NAME, "\n```json\n", ARGUMENTS, "\n```<｜tool▁call▁end｜>"),
        between="\n<｜tool▁call▁begin｜>",
        end="<｜tool▁calls▁end｜>",
    ),
    CallForm(
        id="deepseek",
        template_patterns=("<｜tool▁calls▁begin｜>",),
        marks=("<｜tool▁calls▁begin｜>",),
        begin="<｜tool▁call▁begin｜>",
        call=(NAME, "<｜tool▁sep｜>", ARGUMENTS, "<｜tool▁call▁end｜>"),
        between="<｜tool▁call▁begin｜>",
        end="<｜tool▁calls▁end｜>",
    ),
    CallForm(
        id="kimi",
        template_patterns=(r"<\|tool_calls_section_begin\|>",),
        marks=("<|tool_calls_section_begin|>",),
        begin="<|tool_call_begin|>",
        call=(
            "functions.",
            NAME,
            ":",
            ID,
            "<|tool_call_argument_begin|>",
            ARGUMENTS,
            "<|tool_call_end|>",
        ),
        between="<|tool_call_begin|>",
        end="<|tool_calls_section_end|>",
        is_compact=True,
        id_of="functions.{name}:{id}",
    ),
    CallForm(
        id="mistral",
        template_patterns=(r"\[TOOL_CALLS\]", r"\[ARGS\]"),
        marks=("[TOOL_CALLS]",),
        call=(NAME, Perhaps(("[CALL_ID]", ID)), "[ARGS]", ARGUMENTS),
        between="[TOOL_CALLS]",
    ),
    CallForm(
        id="mistral-list",
        template_patterns=(r"\[TOOL_CALLS\]",),
        marks=("[TOOL_CALLS]",),
        begin="[",
        call=_NAMED_WITH_ID,
        between=", ",
        end="]",
    ),
    CallForm(
        id="command",
        template_patterns=(r"<\|START_ACTION\|>", "tool_call_id"),
        marks=("<|START_ACTION|>",),
        begin="[\n    ",
        call=(
            '{"tool_call_id": "',
            ID,
            '", "tool_name": "',
            NAME,
            '", "parameters": ',
            ARGUMENTS,
            "}",
        ),
        between=",\n    ",
        end="\n]<|END_ACTION|>",
    ),
    CallForm(
        id="nemotron",
        template_patterns=("<TOOLCALL>",),
        marks=("<TOOLCALL>",),
        begin="[",
        call=_NAMED,
        between=", ",
        end="]</TOOLCALL>",
    ),
    CallForm(
        id="apriel",
        template_patterns=(r"<tool_calls>\[",),
        marks=("<tool_calls>",),
        begin="[",
        call=_NAMED_WITH_ID,
        between=", ",
        end="]</tool_calls>",
    ),
    CallForm(
        id="granite",
        template_patterns=("available_tools", r"<\|tool_call\|>"),
        marks=("<|tool_call|>",),
        begin="[",
        call=_NAMED,
        between=", ",
        end="]",
    ),
    CallForm(
        id="seed",
        template_patterns=("<seed:tool_call>",),
        marks=("<seed:tool_call>",),
        begin="\n",
        call=(
            "<function=",
            NAME,
            ">\n",
            TaggedArguments("<parameter=", ">", "</parameter>\n"),
            "</function>",
        ),
        between="\n</seed:tool_call>\n<seed:tool_call>\n",
        end="\n</seed:tool_call>",
    ),
    CallForm(
        id="qwen-coder",
        template_patterns=("<tool_call>", "<function=", "<parameter="),
        marks=("<tool_call>",),
        begin="\n",
        call=(
            "<function=",
            NAME,
            ">\n",
            TaggedArguments("<parameter=", ">\n", "\n</parameter>\n"),
            "</function>",
        ),
        between="\n</tool_call>\n<tool_call>\n",
        end="\n</tool_call>",
    ),
    CallForm(
        id="minimax",
        template_patterns=("<minimax:tool_call>",),
        marks=("<minimax:tool_call>",),
        begin='\n<invoke name="',
        call=(
            NAME,
            '">\n',
            TaggedArguments('<parameter name="', '">', "</parameter>\n"),
            "</invoke>\n",
        ),
        between='<invoke name="',
        end="</minimax:tool_call>",
    ),
    CallForm(
        id="hunyuan",
        template_patterns=(r"<tool_sep(?:\{\}|:opensource)>",),
        marks=("<tool_calls:opensource>",),
        begin="\n<tool_call:opensource>",
        call=(
            NAME,
            "<tool_sep:opensource>\n",
            TaggedArguments(
                "<arg_key:opensource>",
                "</arg_key:opensource>\n<arg_value:opensource>",
                "</arg_value:opensource>\n",
            ),
            "</tool_call:opensource>\n",
        ),
        between="<tool_call:opensource>",
        end="</tool_calls:opensource>",
    ),
    CallForm(
        id="glm-in-a-line",
        template_patterns=("<tool_call>", r"""</arg_key>(?:<arg_value>|['"]\s*-)"""),
        marks=("<tool_call>",),
        call=(
            NAME,
            TaggedArguments("<arg_key>", "</arg_key><arg_value>", "</arg_value>"),
            "</tool_call>",
        ),
        between="<tool_call>",
    ),
    CallForm(
        id="glm",
        template_patterns=("<tool_call>", "<arg_key>"),
        marks=("<tool_call>",),
        call=(
            NAME,
            "\n",
            TaggedArguments("<arg_key>", "</arg_key>\n<arg_value>", "</arg_value>\n"),
            "</tool_call>",
        ),
        between="\n<tool_call>",
    ),
    CallForm(
        id="lfm",
        template_patterns=(r"<\|tool_list_start\|>|<\|tool_call_start\|>|List of tools: \[",),
        marks=("<|tool_call_start|>",),
        begin="[",
        call=(NAME, "(", PythonArguments(), ")"),
        between=", ",
        end="]<|tool_call_end|>",
    ),
    CallForm(
        id="apertus",
        template_patterns=(r"<\|tools_prefix\|>",),
        marks=("<|tools_prefix|>",),
        begin="[",
        call=('{"', NAME, '": ', ARGUMENTS, "}"),
        between=", ",
        end="]<|tools_suffix|>",
    ),
    CallForm(
        id="gigachat",
        template_patterns=(r"<\|function_call\|>",),
        marks=("<|function_call|>",),
        call=_NAMED,
    ),
    CallForm(
        id="solar",
        template_patterns=(r"<\|tool_calls\|>", r"<\|tool_call:begin\|>"),
        marks=("<|tool_calls|>",),
        begin="<|tool_call:begin|>",
        call=(
            ID,
            "<|tool_call:name|>",
            NAME,
            "<|tool_call:args|>",
            ARGUMENTS,
            "<|tool_call:end|>",
        ),
        between="<|tool_call:begin|>",
    ),
    CallForm(
        id="minicpm",
        template_patterns=('<function name="', '<param name="'),
        marks=('<function name="',),
        call=(
            NAME,
            '">',
            TaggedArguments('<param name="', '">', "</param>"),
            "</function>",
        ),
        between='\n<function name="',
    ),
    CallForm(
        id="functionary",
        template_patterns=(r"</function>", r"<function=['\"\s+~]*|<function=example"),
        marks=("<function=",),
        call=(NAME, ">", ARGUMENTS, "</function>"),
        between="<function=",
    ),
    CallForm(
        id="llama",
        template_patterns=(r'Respond in the format \{"name": function name, "parameters"',),
        marks=('{"name": "', '<|python_tag|>{"name": "'),
        call=(NAME, '", "parameters": ', ARGUMENTS, "}"),
        is_first=True,
    ),
    HERMES,
)
"""All forms; the first one whose `template_patterns` all match is used, see `form_in`."""

BY_ID: Mapping[str, CallForm] = {form.id: form for form in FORMS}


def form_in(template: str) -> CallForm | None:
    """Return the form of the models of a chat template, in Jinja, or None if it shows none."""
    return next(
        (
            form
            for form in FORMS
            if all(re.search(tell, template) for tell in form.template_patterns)
        ),
        None,
    )


def form_of(template: str) -> CallForm:
    """Return the form of a chat template's models, or Hermes' if the template shows none."""
    return form_in(template) or HERMES


def shown_tokens(form: CallForm, vocab: Vocabulary) -> dict[int, str]:
    """Return the control tokens that a reply's text must show for a reader, with their texts."""
    shown: dict[int, str] = {}
    for token in {t for text in form.texts() for t in vocab.tokenize(text, special=True)}:
        if token not in vocab.eog and not vocab.piece(token):
            shown[token] = vocab.text(token).decode("utf-8", "replace")
    return shown
