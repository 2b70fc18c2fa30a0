'''The engine: loads a pair, drafts and verifies, and reports what it did. No Qt, network or chats.

A script finds everything it needs here; names are imported when they are first used. A drafter is
any class with five methods, in the order in which they are called:

    from paceline.engine import Draft, generate, load_pair

    class Echo:
        """Proposes that the last token is repeated."""

        def __init__(self, bench, settings):     # see Workbench; settings: name -> number
            self.history = ()
        def begin(self, history, n_prompt):      # token ids; a live view that grows with the text
            self.history = history
        def propose(self, n_max):                # up to n_max token ids, at least 1 is asked for
            return Draft([self.history[-1]])
        def observe(self, n_accepted):           # how many of them the target accepted, or None
            pass
        def close(self):                         # the reply is over
            pass

    with load_pair("target.gguf", "draft.gguf") as pair:
        reply = generate(pair, "What is a list?", strategy=Echo, max_tokens=100, seed=1)
        for step in reply:                       # one verify decode of the target each
            print(step.text, [(trace.source, trace.position) for trace in step.tokens])
        print(reply.stats.acceptance_rate, reply.result.text)

The text is the target's own with any proposal. A drafter that raises an error is no longer asked:
the traceback goes to the log (``paceline``), the event to `Reply.rejections`, and the reply goes
on. With ``extend`` (`Extender`) a drafter can continue another one's draft, with ``tune``
(`Tunable`) accept settings in mid-reply, with ``parameters`` (of `Parameter`) declare some;
`Lookup` is a base class with an index over the text. A pair and all that belongs to it stay on one
thread, except `Pair.cancel`. Errors that users can correct are raised as a `UserError` with code,
message and hint.
'''

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paceline.engine.api import Pair, Reply, generate, load_pair
    from paceline.engine.draft.base import (
        NO_DRAFT,
        Draft,
        Drafter,
        DrafterInfo,
        Extender,
        Parameter,
        Settings,
        Tunable,
        Workbench,
    )
    from paceline.engine.draft.lookups.lookup import Lookup
    from paceline.errors import UserError
    from paceline.messages import (
        Chat,
        ChatMessage,
        DraftCount,
        Infill,
        LogitBias,
        ModelParams,
        Prompt,
        RawText,
        SamplingParams,
        StepCommitted,
        Tokens,
        TokenTrace,
        Translating,
        TurnFinished,
        TurnStats,
    )

__all__ = [
    "NO_DRAFT",
    "Chat",
    "ChatMessage",
    "Draft",
    "DraftCount",
    "Drafter",
    "DrafterInfo",
    "Extender",
    "Infill",
    "LogitBias",
    "Lookup",
    "ModelParams",
    "Pair",
    "Parameter",
    "Prompt",
    "RawText",
    "Reply",
    "SamplingParams",
    "Settings",
    "StepCommitted",
    "TokenTrace",
    "Tokens",
    "Translating",
    "Tunable",
    "TurnFinished",
    "TurnStats",
    "UserError",
    "Workbench",
    "generate",
    "load_pair",
]

_HOMES = ("errors", "messages", "engine.draft.base", "engine.draft.lookups.lookup", "engine.api")


def __getattr__(name: str) -> object:
    if name in __all__:
        for home in _HOMES:
            module = importlib.import_module(f"paceline.{home}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
