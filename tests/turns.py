"""Turns by a few options, so that tests say only what they are about."""

from __future__ import annotations

from paceline.messages import Chat, ChatMessage, Prompt, Prompting, RawText, StartTurn, Tokens
from strategies import strategy as strategy_of


def turn_of(
    *,
    messages: tuple[ChatMessage, ...] = (),
    prompting: Prompting | None = None,
    cuts: bool = False,
    prompt: Prompt | str | None = None,
    prompt_tokens: tuple[int, ...] | None = None,
    strategy: object = None,
    **options: object,
) -> StartTurn:
    """Return the command; ids come before a prompt, a prompt comes before messages.

    A strategy and a prompt without a template can be texts.
    """
    if isinstance(strategy, str):
        strategy = strategy_of(strategy)
    if strategy is not None:
        options["strategy"] = strategy
    if prompt_tokens is not None:
        prompt = Tokens(tuple(prompt_tokens))
    elif isinstance(prompt, str):
        prompt = RawText(prompt)
    elif prompt is None:
        prompt = Chat(messages, prompting or Prompting(), cuts)
    return StartTurn(prompt, **options)  # type: ignore[arg-type]
