"""Checks of commands, and what they need: limits, prompt, sampler; sizes of conversations."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple, TypeVar

from msgspec import structs

from paceline.content import ToolUse
from paceline.engine.calls.call_grammar import grammar_of_tools
from paceline.engine.calls.forms import BY_ID, HERMES, form_of, shown_tokens
from paceline.engine.decode.text import TextAssembler
from paceline.engine.model.backend import Grammar, Reasoning, Vocabulary
from paceline.engine.model.tokens import TokenSequence, last_ids
from paceline.engine.pair import LoadedPair
from paceline.engine.prompt.conversation import check_calls, check_chat, empty_prompt, tools_of
from paceline.engine.prompt.infill import infill_tokens, without_first_files
from paceline.engine.prompt.learned_marks import OPENING, LearnedMarks, as_texts
from paceline.engine.prompt.reasoning_marks import PAIRS, opened_by
from paceline.engine.prompt.segments import Segment, tokenize_after
from paceline.engine.prompt.size import (
    Cutter,
    FittedPrompt,
    PromptSizes,
    at_most,
    encode_fitting,
    room_for_reply,
)
from paceline.engine.prompt.template import BAD, ChatTemplate
from paceline.engine.refusals import no_prompt, not_counted
from paceline.engine.sample.drawing import MakeDrawer
from paceline.engine.sample.sampling import Sampler
from paceline.errors import EngineError, UserError, ValueOutOfRangeError, refuse
from paceline.messages import (
    Chat,
    ChatMessage,
    CountTokens,
    Infill,
    PromptRendered,
    RawText,
    RenderPrompt,
    StartTurn,
    Tokens,
    TokensCounted,
)
from paceline.sentence import sentence

_T = TypeVar("_T")
_MAX_MARK_TOKENS = 40
"""Maximum number of tokens, with blanks, in which a mark of reasoning ends a prompt."""
_MAX_SHOWN_CHARS = 100_000
"""Maximum number of characters of a prompt that is shown."""
_MAX_TEMPLATE_CHARS = 1_000_000
"""Maximum number of characters of a template that can be edited; an event has to hold it."""


def make_sampler(
    vocab: Vocabulary,
    command: StartTurn,
    seed: int,
    grammar: Grammar | None = None,
    make_drawer: MakeDrawer | None = None,
) -> Sampler:
    """Return the reply's sampler.

    Args:
        vocab: The target's vocabulary.
        command: The command with the sampling settings.
        seed: 0 or more.
        grammar: Grammar of the reply in its initial state; closed if this fails.
        make_drawer: Factory of the drawer of rows, or None for the best installed one.

    Raises:
        ValueOutOfRangeError: A sampling setting is invalid.
    """
    try:
        return Sampler(
            command.sampling,
            seed,
            vocab.eog if command.ignore_eog else (),
            n_vocab=vocab.n_tokens,
            grammar=grammar,
            n_likely=command.n_likely,
            make_drawer=make_drawer,
        )
    except BaseException:
        if grammar:
            grammar.close()
        raise


def make_grammar(
    vocab: Vocabulary, command: StartTurn, prompt: FittedPrompt
) -> tuple[Grammar | None, tuple[str, ...]]:
    """Return the reply's grammar in its initial state, or None, and notes for the user.

    Raises:
        ValueOutOfRangeError: The grammar or the tools are invalid.
    """
    params, use = command.sampling, _callable(command)
    if params.grammar and params.json_schema:
        refuse("A grammar and a JSON schema are given.", "Give one of them.")
    has_form = bool(params.grammar or params.json_schema)
    if command.ignore_eog and (has_form or use):
        refuse("A grammar ends the reply, but ends are to be ignored.", "Switch one of them off.")

    def answer() -> Grammar:
        if params.json_schema:
            return vocab.grammar_of_schema(params.json_schema, prompt.reasoning)
        return vocab.grammar(params.grammar, prompt.reasoning)

    if use:
        text = TextAssembler(vocab, (), prompt.opening, prompt.marks, prompt.shown)
        return grammar_of_tools(
            vocab,
            BY_ID[prompt.calls],
            use,
            prompt.reasoning,
            text,
            answer=answer if has_form else None,
        )
    return answer() if has_form else None, ()


def _callable(command: StartTurn) -> ToolUse | None:
    """Return the tools that the reply may call, or None."""
    use = command.prompt.tools if isinstance(command.prompt, Chat) else None
    return use if use and use.choice != "none" else None


class Begun(NamedTuple):
    """The given beginning of a reply that is continued.

    Attributes:
        tokens: Its tokens, without one that ended it; empty for a new reply.
        may_end: Whether the next token may end it.
    """

    tokens: tuple[int, ...] = ()
    may_end: bool = True


def encode_begun(vocab: Vocabulary, command: StartTurn, prompt: FittedPrompt) -> Begun:
    """Return the tokens that the reply continues: the given ones if they have its text.

    Otherwise those of the text itself.

    Raises:
        UserError: The reply cannot be continued.
    """
    if not command.begun_text:
        return Begun()
    written = _written(vocab, command.begun, command.begun_text, prompt)
    if written is not None:
        tokens = written[:-1] if written[-1] in vocab.eog else written
        again = TextAssembler(vocab, prompt.stops, prompt.opening, prompt.marks, prompt.shown)
        if any(again.push(token) for token in tokens):
            raise _cannot_continue(sentence("it ended where the model began the next turn"))
        return Begun(tokens, may_end=tokens == written)
    text = command.begun_text.removeprefix(prompt.opening)
    parts = [(text, False)]
    if prompt.marks or _holds_control_tokens(vocab, text):
        parts = _parts(text, prompt)
    if any(not special and _holds_control_tokens(vocab, part) for part, special in parts):
        raise _cannot_continue(
            sentence("its text holds control tokens, and is not what the loaded model wrote")
        )
    found = (tokenize_after(vocab, part, special=special) for part, special in parts if part)
    return Begun(tuple(chain.from_iterable(found)), may_end=False)


def check_begun(grammar: Grammar, begun: Begun) -> None:
    """Refuse to continue a beginning that a grammar does not allow; the grammar's state stays.

    Args:
        grammar: The grammar in its initial state.
        begun: The beginning of the reply.

    Raises:
        UserError: The reply cannot be continued.
    """
    state = grammar.clone()
    try:
        for token in begun.tokens:
            state.accept(token)
    except EngineError as error:
        if error.code != "grammar-refuses":
            raise
        raise _cannot_continue(
            sentence("its text does not have the form that is asked for")
        ) from None
    finally:
        state.close()


def _holds_control_tokens(vocab: Vocabulary, text: str) -> bool:
    return vocab.tokenize(text, special=True) != vocab.tokenize(text, special=False)


def _parts(text: str, prompt: FittedPrompt) -> list[Segment]:
    """Return a reply's text as segments, with its marks of reasoning as the model writes them."""
    learned = prompt.marks.learned if prompt.marks else LearnedMarks()
    opened = prompt.opening.strip()
    opening = opened or next((mark for mark in PAIRS if text.lstrip().startswith(mark)), "")
    if not opening:
        return [(learned.frame, True), (text, False)]
    before, mark, rest = ("", "", text) if opened else text.partition(opening)
    reasoning, closing, answer = rest.partition(PAIRS[opening])
    if opening == OPENING:
        mark = mark and (learned.opening.strip() or mark)
        closing = closing and (learned.closing.strip() or closing)
    return [(before, False), (mark, True), (reasoning, False), (closing, True), (answer, False)]


def encode_earlier(
    vocab: Vocabulary, command: StartTurn, prompt: FittedPrompt
) -> tuple[tuple[int, ...], ...]:
    """Return the tokens of earlier replies: the given ones if they have the text, else its own.

    Raises:
        ValueOutOfRangeError: Tokens given without a text do not exist.
    """
    found = []
    for reply in command.earlier:
        if not reply.text:
            _check_tokens(vocab, reply.tokens)
            found.append(reply.tokens)
            continue
        written = _written(vocab, reply.tokens, reply.text, prompt)
        text = reply.text.removeprefix(prompt.opening)
        found.append(written or tuple(tokenize_after(vocab, text, special=False)))
    return tuple(tokens for tokens in found if tokens)


def _written(
    vocab: Vocabulary, tokens: tuple[int, ...], text: str, prompt: FittedPrompt
) -> tuple[int, ...] | None:
    """Return these tokens if they decode to the text; None if another model wrote them."""
    if not tokens or not all(0 <= token < vocab.n_tokens for token in tokens):
        return None
    pieces = tokens[:-1] if tokens[-1] in vocab.eog else tokens
    begins = text.startswith(prompt.opening)  # earlier versions may have had another prompt
    opening = prompt.opening if begins else ""
    whole = TextAssembler(vocab, (), opening, prompt.marks, prompt.shown)
    whole.begin(pieces, "")
    return tokens if whole.text.startswith(text.rstrip("\ufffd")) else None


def _check_tokens(vocab: Vocabulary, tokens: Sequence[int]) -> None:
    bad = [token for token in tokens if not 0 <= token < vocab.n_tokens]
    if bad:
        raise ValueOutOfRangeError(
            "no-such-token",
            "Token {token} does not exist: the vocabulary has {n_tokens:,} tokens.",
            "Give ids from 0 to {last}.",
            token=bad[0],
            n_tokens=vocab.n_tokens,
            last=vocab.n_tokens - 1,
        )


def _cannot_continue(why: str) -> UserError:
    return UserError(
        "cannot-continue",
        "This reply cannot be continued: {why}.",
        "Generate it again, or ask for the rest in a message.",
        why=why,
    )


def encode_prompt(pair: LoadedPair, command: StartTurn) -> FittedPrompt:
    """Return the prompt's tokens, at least one, notes for the user, and what was omitted.

    Raises:
        ValueOutOfRangeError: It is empty, or has a token or a role that does not exist.
        UserError: The model has no tokens for a missing middle.
    """
    if isinstance(command.prompt, Chat):
        return _encode_chat(pair, command, command.prompt)
    vocab, prompt, n_cut = pair.target.model.vocab, command.prompt, 0
    if isinstance(prompt, Infill):
        n_ctx = pair.target.n_ctx
        n_free = room_for_reply(n_ctx, command.max_tokens) + 1  # and the token that begins a prompt
        fitted = without_first_files(vocab, prompt, n_ctx - n_free)
        prompt, n_cut = fitted, len(prompt.files) - len(fitted.files)
    return FittedPrompt(TokenSequence(encode_plain(vocab, prompt).tokens), (), n_cut)


class PlainPrompt(NamedTuple):
    """The tokens of a prompt that needs no template.

    Attributes:
        tokens: The tokens, with at least one of the prompt's text.
        n_added: Number of tokens at the beginning that are not of its text.
    """

    tokens: list[int]
    n_added: int = 0


def encode_plain(vocab: Vocabulary, prompt: RawText | Tokens | Infill) -> PlainPrompt:
    """Return the tokens of a prompt without a template; raises the errors of `encode_prompt`."""
    match prompt:
        case Tokens():
            _check_tokens(vocab, prompt.ids)
            own, is_begun = list(prompt.ids), True
        case RawText():
            own = vocab.tokenize(prompt.text, special=prompt.special)
            is_begun = prompt.special and own[:1] == [vocab.bos]  # the text contains BOS
        case Infill():
            own, is_begun = infill_tokens(vocab, prompt), False
    if not own:
        raise empty_prompt()
    if is_begun or not vocab.add_bos or vocab.bos < 0:
        return PlainPrompt(own)
    return PlainPrompt([vocab.bos, *own], n_added=1)


def _encode_chat(pair: LoadedPair, command: StartTurn, chat: Chat) -> FittedPrompt:
    check_chat(chat)
    tools = tools_of(chat)
    vocab = pair.target.model.vocab

    def encode(prompts: PromptSizes) -> FittedPrompt:
        template = prompts.template
        if chat.cuts:
            n_begun = len(vocab.tokenize(command.begun_text, special=False))
            n_ctx = max(pair.target.n_ctx - n_begun, 1)
            fitted = encode_fitting(prompts, chat.messages, n_ctx, command.max_tokens, tools)
        else:
            fitted = FittedPrompt(*template.encode(chat.messages, tools), 0)
        ids = chain.from_iterable(fitted.tokens.texts())
        template.check_question(chat.messages, _text_of(vocab, ids), tools)
        form = None
        if _callable(command):
            form = form_of(template.source) if template.writes(tools) else HERMES
        opening = _opening(template, fitted.tokens, chat.messages)
        if form is not None:
            fitted = fitted._replace(calls=form.id, shown=shown_tokens(form, vocab))
        return fitted._replace(
            opening=opening,
            marks=as_texts(template.marks, vocab),
            knows_marks=template.knows_marks or bool(opening),
            stops=template.stops,
            reasoning=_reasoning(template, opening, chat.prompting.think),
        )

    def encode_all(prompts: PromptSizes) -> FittedPrompt:
        fitted = encode(prompts)
        opening, begun = fitted.opening, command.begun_text
        if not (opening and begun) or begun.startswith(opening):
            return fitted
        before, mark, _ = begun.partition(opening.strip())
        if mark and not before.strip():
            return fitted._replace(opening=before + mark)
        # Only an answer can be continued.
        template = prompts.template
        if "off" in template.switch.choices:
            without = replace(chat.prompting, think="off")
            closed = encode(pair.prompts(structs.replace(chat, prompting=without)))
            if not closed.opening:
                return closed
        closing = template.marks.closing or f"\n{PAIRS[opening.strip()]}\n\n"
        end = tokenize_after(vocab, closing, special=True)
        tokens = TokenSequence(fitted.tokens)
        tokens.extend(end)
        return fitted._replace(tokens=tokens, opening="", reasoning=None)

    fitted = by_template(pair, chat, encode_all)
    if not fitted.tokens:
        raise empty_prompt()
    if pair.template_failure and not chat.prompting.template:
        fitted = fitted._replace(notes=(pair.template_failure, *fitted.notes))
    return fitted


def _opening(template: ChatTemplate, tokens: Sequence[int], messages: Sequence[ChatMessage]) -> str:
    """Return the mark with which a prompt opens the reasoning, as in the reply's text."""
    end = _text_of(template.vocab, last_ids(tokens, _MAX_MARK_TOKENS))
    seen, last = end.rstrip(), messages[-1].text.rstrip()
    is_users = bool(last) and seen.endswith(last[-len(seen) :])  # the mark is the user's text
    listed = "" if is_users else opened_by(end)
    marks = template.marks
    return listed or (f"{OPENING}\n" if marks.is_opened and not marks.are_listed else "")


def _reasoning(template: ChatTemplate, opening: str, think: str) -> Reasoning | None:
    """Return the marks of the reasoning that a reply may begin with, or None without reasoning.

    Args:
        template: The template, which knows its marks.
        opening: The mark with which the prompt has opened the reasoning; empty if it has not.
        think: The choice of the template's switch.
    """
    marks = template.marks
    before, closing = marks.opening.strip(), marks.closing.strip()
    if opening:
        return Reasoning("", closing or PAIRS[opening.strip()])
    return Reasoning(before, closing) if before and closing and think != "off" else None


def _text_of(vocab: Vocabulary, tokens: Iterable[int]) -> str:
    return b"".join(map(vocab.piece, tokens)).decode("utf-8", "ignore")


def by_template(pair: LoadedPair, chat: Chat, work: Callable[[PromptSizes], _T]) -> _T:
    """Call `work` with the chat's template, or with the next best one if the file's fails.

    Raises:
        EngineError: From `work`; the user gave the template, or it refuses the conversation.
    """
    prompts = pair.prompts(chat)
    try:
        return work(prompts)
    except EngineError as error:
        if error.code != BAD or chat.prompting.template or pair.guessed:
            raise
        pair.give_up_template(prompts.template.source, error.message)
        return by_template(pair, chat, work)


_log = logging.getLogger(__name__)


def count_tokens(pair: LoadedPair | None, command: CountTokens) -> TokensCounted:
    """Return the counts of a conversation; -1 for what cannot be counted."""
    if pair is None or pair.is_lost:
        return not_counted()
    n_ctx, prompt = pair.target.n_ctx, command.prompt
    limit = n_ctx - room_for_reply(n_ctx, command.max_tokens)

    def count(sizes: PromptSizes, chat: Chat) -> TokensCounted:
        messages, tools = chat.messages, tools_of(chat)
        n_cut, n_tokens = 0, sizes.count(messages, limit, tools)
        if chat.cuts and n_tokens > limit:
            cutter = Cutter(messages, sizes, limit, tools)
            n_cut = cutter.n_cut(lambda kept: sizes.count(kept, limit, tools))
        per_message = at_most(sizes.of_messages(messages), n_tokens)
        return TokensCounted(n_tokens, n_ctx, per_message, n_cut)

    try:
        if not isinstance(prompt, Chat):
            n_tokens = len(encode_plain(pair.target.model.vocab, prompt).tokens)
            return TokensCounted(n_tokens, n_ctx)
        check_chat(prompt)
        return by_template(pair, prompt, lambda sizes: count(sizes, prompt))
    except UserError as error:
        _log.debug("a prompt cannot be counted: %s", error)
        return TokensCounted(-1, n_ctx)


def render_prompt(pair: LoadedPair | None, command: RenderPrompt) -> PromptRendered:
    """Return the rendered prompt; a template's problem is part of the answer."""
    if pair is None or pair.is_lost:
        return no_prompt()
    shown = PromptRendered()

    def render(prompts: PromptSizes) -> PromptRendered:
        nonlocal shown
        check_calls(command.chat)
        template = prompts.template
        shown = structs.replace(shown, thinking=template.switch.choices)
        chat, tools = command.chat, tools_of(command.chat)
        text, notes = template.render_with_notes(chat.messages, tools)
        template.check_question(chat.messages, text, tools)
        return structs.replace(
            shown,
            text=text[-_MAX_SHOWN_CHARS:],
            n_chars=len(text),
            notes=notes,
            stops=template.stops,
        )

    try:
        shown = by_template(pair, command.chat, render)
    except UserError as error:
        shown = structs.replace(shown, problem=error.message, hint=error.hint)
    own = pair.own_template if len(pair.own_template) <= _MAX_TEMPLATE_CHARS else ""
    return structs.replace(shown, own=own, is_guessed=pair.guessed is not None)
