"""The grammar of a reply's calls, made of a form and of the schemas of tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from paceline.content import Tool, ToolUse
from paceline.engine.calls.either import EitherGrammar
from paceline.engine.calls.form import (
    CallForm,
    Element,
    Hole,
    OneText,
    Perhaps,
    PythonArguments,
    TaggedArguments,
)
from paceline.engine.calls.tool_schemas import ANYTHING, Argument, ToolSchema
from paceline.engine.calls.waiting import WaitingGrammar
from paceline.engine.model.backend import Reasoning
from paceline.engine.model.grammar_parts import (
    AnyOf,
    FixedText,
    GrammarPart,
    InOrder,
    JsonText,
    Repeated,
    TextPattern,
    TextUntil,
)
from paceline.engine.prompt.reasoning_marks import PAIRS
from paceline.errors import ValueOutOfRangeError, refuse
from paceline.sentence import sentence

if TYPE_CHECKING:
    from paceline.engine.decode.text import TextAssembler
    from paceline.engine.model.backend import Grammar, Vocabulary

_BLANKS = Repeated(TextPattern(r"[ \t\r\n]{1,8}"), is_once=True)
_ID = TextPattern("[A-Za-z0-9_-]{1,40}")
_ARGUMENT_NAME = TextPattern("[A-Za-z_][A-Za-z0-9_]{0,60}")
_ANSWER_BEGINS = "<|content|>"
_NO_ANSWER = sentence(
    "The form that the answer is to have has no effect, since the reply is to call a tool."
)
_CONSTANTS = {"boolean": ("True", "False"), "null": ("None",)}


class CompiledCalls(NamedTuple):
    """The grammar of calls.

    Attributes:
        grammar: The grammar in its initial state.
        notes: Notes for the user: tools whose arguments are not constrained.
    """

    grammar: Grammar
    notes: tuple[str, ...]


def compile_calls(
    vocab: Vocabulary, form: CallForm, use: ToolUse, after: Reasoning | None, *, any_mark: bool
) -> CompiledCalls:
    """Return the grammar of a reply that calls tools from its first mark on.

    A tool whose schema cannot be enforced may get any arguments; a note says so.

    Args:
        vocab: The model's vocabulary.
        form: Form in which it writes calls.
        use: The tools, and the one to call if that is prescribed.
        after: Marks of a reasoning before the calls, or None.
        any_mark: Whether they may begin with any mark of the form, or only with the first.
    """
    tools = [tool for tool in use.tools if use.name in ("", tool.name)]
    schemas = {tool.name: ToolSchema(tool) for tool in tools}
    is_many = use.is_parallel and not use.name
    notes: dict[str, str] = {}

    def compiled() -> Grammar:
        calls = _Calls(form, schemas)
        part = calls.of_reply(is_many=is_many, any_mark=any_mark)
        for name in calls.not_kept:
            notes[name] = sentence(
                "The arguments of the tool “{name}” are constrained in part: the way in which this "
                "model writes calls has no place for all of the schema.",
                name=name,
            )
        return vocab.grammar_of_parts(part, after)

    try:
        return CompiledCalls(compiled(), tuple(notes.values()))
    except ValueOutOfRangeError as error:
        last = error
    for tool in tools:
        try:
            vocab.grammar_of_parts(_Calls(form, {tool.name: schemas[tool.name]}).any_call()).close()
        except ValueOutOfRangeError as error:
            schemas[tool.name] = _unconstrained(tool.name)
            notes[tool.name] = _not_constrained(tool.name, error.message)
    try:
        return CompiledCalls(compiled(), tuple(notes.values()))
    except ValueOutOfRangeError:  # all of them together are too large
        for tool in tools:
            schemas[tool.name] = _unconstrained(tool.name)
            notes.setdefault(tool.name, _not_constrained(tool.name, last.message))
    return CompiledCalls(compiled(), tuple(notes.values()))


def grammar_of_tools(
    vocab: Vocabulary,
    form: CallForm,
    use: ToolUse,
    reasoning: Reasoning | None,
    text: TextAssembler,
    *,
    answer: Callable[[], Grammar] | None = None,
) -> CompiledCalls:
    """Return the grammar of a reply that must call tools, or may do so.

    Args:
        vocab: The model's vocabulary.
        form: Form in which it writes calls.
        use: The tools that it may call, at least one.
        reasoning: Marks of the reasoning that the reply may begin with, or None.
        text: Assembler of the reply's text, in its initial state.
        answer: Makes the grammar of a reply without calls, if that has a form. Then calls follow
            right after the reasoning, in place of such an answer.

    Raises:
        ValueOutOfRangeError: The prescribed tool is not among them, or the answer's form is
            invalid.
    """
    if use.name and all(tool.name != use.name for tool in use.tools):
        refuse("The tool “{name}” is to be called, but it is not there.", "", name=use.name)
    before = Reasoning(*form.reasoning) if form.reasoning else reasoning
    before = before and _before_calls(before)
    if use.choice == "required":
        calls, notes = compile_calls(vocab, form, use, before, any_mark=False)
        return CompiledCalls(calls, (*notes, _NO_ANSWER) if answer else notes)
    if answer:
        with_answer = answer()
        calls, notes = compile_calls(vocab, form, use, before, any_mark=True)
        return CompiledCalls(EitherGrammar(with_answer, calls), notes)
    calls, notes = compile_calls(vocab, form, use, None, any_mark=True)
    return CompiledCalls(WaitingGrammar(vocab, form, text, calls), notes)


def _before_calls(reasoning: Reasoning) -> Reasoning:
    """Return the marks without the begin of an answer after the reasoning."""
    closing = reasoning.closing.removesuffix(_ANSWER_BEGINS)
    for end in PAIRS.values():
        if end in closing:
            closing = closing[: closing.index(end) + len(end)]
            break
    return reasoning._replace(closing=closing)


def _unconstrained(name: str) -> ToolSchema:
    return ToolSchema(Tool(name, parameters=ANYTHING))


def _not_constrained(name: str, reason: str) -> str:
    return sentence(
        "The arguments of the tool “{name}” are not constrained. {reason}", name=name, reason=reason
    )


class _Calls:
    """The parts of the grammar of calls.

    Attributes:
        not_kept: Tools whose schemas the form cannot express.
    """

    def __init__(self, form: CallForm, schemas: Mapping[str, ToolSchema]) -> None:
        self._form = form
        self._schemas = schemas
        self.not_kept: list[str] = []

    def of_reply(self, *, is_many: bool, any_mark: bool) -> GrammarPart:
        """Return the grammar after an answer or a reasoning."""
        form, call = self._form, self.any_call()
        marks = form.marks if any_mark else form.marks[:1]
        begin = [AnyOf(tuple(map(FixedText, marks))), *self._begin(any_blanks=any_mark)]
        more = []
        if is_many and form.between:
            more.append(Repeated(InOrder((FixedText(form.between), call))))
        return InOrder((*begin, call, *more, FixedText(form.end)))

    def _begin(self, *, any_blanks: bool) -> list[GrammarPart]:
        begin = self._form.begin
        if any_blanks and begin:  # the mark may end within a token that includes other blanks
            return [_BLANKS, FixedText(begin.lstrip())]
        return [FixedText(begin)]

    def any_call(self) -> GrammarPart:
        """Return the grammar of a call of one of the tools."""
        return AnyOf(tuple(map(self._call, self._schemas)))

    def _call(self, name: str) -> GrammarPart:
        parts: list[GrammarPart] = []
        text = ""
        for element in self._form.call:
            if isinstance(element, str):
                text += element
                continue
            parts += [FixedText(text), self._element(element, name)]
            text = ""
        return InOrder((*parts, FixedText(text)))

    def _element(self, element: Element, name: str) -> GrammarPart:
        schema = self._schemas[name]
        match element:
            case Hole.NAME:
                return _plain(name)
            case Hole.ID:
                return _ID
            case OneText(texts):
                return AnyOf(tuple(map(FixedText, texts)))
            case Perhaps(parts):
                whole = InOrder(tuple(self._element(part, name) for part in parts))
                return Repeated(whole, is_once=True)
            case TaggedArguments():
                self._check(element, name, schema)
                return InOrder(tuple(_tagged(element, schema)))
            case PythonArguments():
                self._check(element, name, schema)
                return _python(schema)
            case str():
                return FixedText(element)
            case _:
                return JsonText(schema.text, self._form.is_compact)

    def _check(self, element: Element, name: str, schema: ToolSchema) -> None:
        """Note a tool whose schema this form cannot express."""
        is_text = isinstance(element, TaggedArguments)
        if (
            schema.arguments is None
            or schema.says_more
            or (is_text and not all(each.is_kept_as_text for each in schema.arguments))
        ):
            self.not_kept.append(name)


def _plain(text: str) -> FixedText:
    """Return a text of the request, in which names of control tokens are ordinary text."""
    return FixedText(text, is_plain=True)


def _tagged(tags: TaggedArguments, schema: ToolSchema) -> Iterator[GrammarPart]:
    """Yield the grammar of each argument between its tags."""
    for argument in schema.arguments or ():
        values = AnyOf(tuple(_values(tags, argument)))
        whole = InOrder((FixedText(tags.before), _plain(argument.name), values))
        yield whole if argument.is_required else Repeated(whole, is_once=True)
    if schema.others is not None:
        values = AnyOf(tuple(_values(tags, Argument("", schema.others, is_required=False))))
        yield Repeated(InOrder((FixedText(tags.before), _ARGUMENT_NAME, values)))


def _python(schema: ToolSchema) -> GrammarPart:
    """Return the grammar of arguments in Python's notation."""
    # The grammar of the rest, from the last argument backwards: after another one, or as the first.
    after: GrammarPart = FixedText("")
    begin: GrammarPart = after
    if schema.others is not None:
        other = _python_value(Argument("", schema.others, is_required=False))
        given = InOrder((_ARGUMENT_NAME, FixedText("="), other))
        after = Repeated(InOrder((FixedText(", "), given)))
        begin = Repeated(InOrder((given, after)), is_once=True)
    for argument in reversed(schema.arguments or ()):
        given = InOrder((_plain(f"{argument.name}="), _python_value(argument)))
        following, beginning = InOrder((FixedText(", "), given, after)), InOrder((given, after))
        if argument.is_required:
            after, begin = following, beginning
        else:
            after, begin = AnyOf((following, after)), AnyOf((beginning, begin))
    return begin


def _values(tags: TaggedArguments, argument: Argument) -> Iterator[GrammarPart]:
    """Yield the ways to write a value, with the texts around it."""
    after_json = tags.after_json_name or tags.after_name
    if argument.kind != "text" and (tags.after_json_name or argument.kind == "json"):
        value = JsonText(json.dumps(argument.schema))
        yield InOrder((FixedText(after_json), value, FixedText(tags.after_value)))
    if argument.kind != "json":
        yield InOrder((FixedText(tags.after_name), _raw(tags, argument.schema)))


def _raw(tags: TaggedArguments, schema: Mapping[str, object]) -> GrammarPart:
    """Return the grammar of an unquoted string, with the text after it."""
    texts = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts):
        return InOrder((AnyOf(tuple(map(_plain, texts))), FixedText(tags.after_value)))
    end = tags.after_value.strip()
    after = tags.after_value[tags.after_value.index(end) + len(end) :]
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    until = TextUntil(
        end,
        least if isinstance(least, int) else 0,
        most if isinstance(most, int) else None,
    )
    return InOrder((until, FixedText(after)))


def _python_value(argument: Argument) -> GrammarPart:
    schema = argument.schema
    named = schema.get("type")
    types = named if isinstance(named, list) else [named]
    constants = [text for each in types for text in _CONSTANTS.get(str(each), ())]
    if not constants or schema.keys() & {"const", "enum"}:
        return JsonText(json.dumps(schema))
    values: list[GrammarPart] = [FixedText(text) for text in constants]
    if others := [each for each in types if each not in _CONSTANTS]:
        values.append(JsonText(json.dumps({**schema, "type": others})))
    return AnyOf(tuple(values))
