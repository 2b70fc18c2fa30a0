"""A loaded pair: two models, the tokens in their contexts, and measurements with them."""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path

from paceline.engine.auto.costs import VerifyCosts
from paceline.engine.auto.knowledge import Knowledge
from paceline.engine.calls.writer import writer_of
from paceline.engine.draft.lookups.earlier_texts import EarlierTexts
from paceline.engine.facts import Facts
from paceline.engine.last_prompts import LastPrompts
from paceline.engine.model.backend import LanguageModel
from paceline.engine.model.context import CachedContext
from paceline.engine.model.kept_states import KeptStates
from paceline.engine.model.model_file import OVERWRITTEN, Written, written_at
from paceline.engine.model.translation import TranslatedContext, Translation
from paceline.engine.prompt.conversation import is_about_tools, tools_of
from paceline.engine.prompt.formats import PLAIN, family_of, guess
from paceline.engine.prompt.size import PromptSizes
from paceline.engine.prompt.template import ChatTemplate
from paceline.engine.sameness.promise import Promise
from paceline.engine.sample.drawing import MakeDrawer
from paceline.errors import EngineError
from paceline.messages import Chat, DeviceMemory
from paceline.sentence import sentence

_TIME_PER_SIZE = 1.5
"""Factor on a model's relative size that estimates its relative time per token: decoding reads
every weight once, and half as much again accounts for what does not shrink with the model."""
_MAX_TEMPLATES = 4


class LoadedPair:
    """Target and draft model with the tokens in their contexts, and measurements with them.

    Attributes:
        make_drawer: Factory of a reply's drawer of rows, or None for the best installed one.
        guessed: Chat format to use if the target's file has no working template, otherwise None.
        tool_template: The file's template for chats with tools; empty if it has none or it failed.
        template_failure: Note for each reply for which the guess replaces the file's own template,
            which failed; empty if it has not failed.
        earlier: Texts of earlier chats, as the target's tokens.
        states: The stored states of the contexts, or None if none are stored.
        last_prompts: The prompts that were read last, also with earlier pairs.
        knowledge: Auto's knowledge of their costs and of acceptance.
        promise: What holds about equal texts, and the batch widths that ensure it.
        files: The files of the weights, with their modification times before the load.
        has_forgotten: Whether Auto's acceptance is only from after `forget`, and not from earlier
            sessions.
        uses_draft: Whether the last reply's strategy drafts with the draft model, if there is one.
        reading_s: Seconds per token of reading the last prompt; 0 if none was read yet.
        is_lost: Whether a decode failed such that the contexts must not be used any more; the owner
            of the pair has to close it.
    """

    def __init__(
        self,
        target: LanguageModel,
        draft: LanguageModel | None,
        facts: Facts,
        *,
        translation: Translation | None = None,
        lookup_cache: str = "",
        is_exact: bool = False,
        make_drawer: MakeDrawer | None = None,
    ) -> None:
        self.target = CachedContext(target)
        self.draft: CachedContext | None = None
        if draft is not None and translation is not None:
            self.draft = TranslatedContext(draft, translation)
        elif draft is not None:
            self.draft = CachedContext(draft)
        names = f"{target.info.name} {Path(target.info.path).name}"
        self.guessed = None if target.template else guess(target.vocab, names)
        self.tool_template = target.tool_template if target.template else ""
        self.template_failure = ""
        self._prompts = lru_cache(_MAX_TEMPLATES)(
            lambda source, think: PromptSizes(
                ChatTemplate(source, target.vocab, think, writer_of(source))
            )
        )
        self.facts = facts
        self.make_drawer = make_drawer
        self.notes: tuple[str, ...] = ()
        self.kept: dict[str, object] = {}
        self.earlier = EarlierTexts(partial(target.vocab.tokenize, special=False))
        self.states: KeptStates | None = None
        self.last_prompts = LastPrompts()
        self.knowledge = Knowledge(VerifyCosts(on_device=target.info.n_gpu_layers > 0))
        if draft is not None and draft.info.size_bytes and target.info.size_bytes:
            share = draft.info.size_bytes / target.info.size_bytes
            self.knowledge.draft_costs[draft.drafter].guess = min(_TIME_PER_SIZE * share, 1.0)
        self.promise = Promise(self.target, facts, lambda: self.knowledge.costs, is_exact=is_exact)
        self.has_forgotten = False
        self.uses_draft = False
        self.reading_s = 0.0
        self.is_lost = False
        self.lookup_cache = Path(lookup_cache) if lookup_cache else None
        self.files: dict[Path, Written] = {}

    @property
    def memory(self) -> tuple[DeviceMemory, ...]:
        """The memory that both models use on each device, by its name; the CPU comes last."""
        parts = [*self.target.model.memory, *(self.draft.model.memory if self.draft else ())]
        together: dict[str, DeviceMemory] = {}
        for part in parts:
            before = together.get(part.device, DeviceMemory(part.device, 0, 0, 0))
            together[part.device] = DeviceMemory(
                part.device,
                before.weights + part.weights,
                before.kv + part.kv,
                before.compute + part.compute,
            )
        return tuple(
            sorted(together.values(), key=lambda m: (m.device == "CPU", len(m.device), m.device))
        )

    @property
    def own_template(self) -> str:
        """The file's chat template, or the guessed one."""
        return self.guessed.source if self.guessed else self.target.model.template

    def prompts(self, chat: Chat) -> PromptSizes:
        """Return the template for a chat, with the sizes of its prompts.

        The file's template for tools is used if the chat has tools that it can write.
        """
        template, think = chat.prompting.template, chat.prompting.think
        if self.template_failure and not template:
            think = ""  # the guessed format has no switch
        tools = tools_of(chat)
        if self.tool_template and not template and is_about_tools(chat.messages, tools):
            found = self._prompts(self.tool_template, think)
            knows_choice = not think or think in found.template.switch.choices
            if knows_choice and found.template.writes(tools):
                return found
        return self._prompts(template or self.own_template, think)

    def give_up_template(self, source: str, problem: str) -> None:
        """Use the next best template from now on; the last is the usual one for its vocabulary.

        Args:
            source: The failed template of the file.
            problem: The problem as a sentence.
        """
        for_tools, self.tool_template = self.tool_template, ""
        if source == for_tools:
            return
        self.guessed = family_of(self.target.model.vocab) or PLAIN
        self.template_failure = sentence(
            "{problem:bare}, so the template {name} is used in its place, which is a guess.",
            problem=problem,
            name=self.guessed.name,
        )

    def check_files(self) -> None:
        """Check that the weights, which are mapped from their files, are unchanged since the load.

        A file that was deleted or replaced lives on in the mapping. Takes 2 µs per file.

        Raises:
            EngineError: A file was written to; the pair is lost.
        """
        for path, before in self.files.items():
            now = written_at(path)
            if now and before[0] == now[0] and before[1] != now[1]:
                self.is_lost = True
                raise EngineError(
                    OVERWRITTEN,
                    "The file “{name}” was written to after it was loaded, so nothing that "
                    "comes of it can be trusted.",
                    "Try again: the models are loaded anew. If that fails, download the file anew.",
                    name=path.name,
                )

    def choose_widths(self) -> bool:
        """Choose the batch widths by the present evidence, between two replies.

        Returns:
            Whether they changed, so that the costs of steps are no longer known.
        """
        has_changed = self.promise.choose_widths()
        if has_changed:
            self.knowledge.costs = self.knowledge.costs.emptied()
        return has_changed

    @property
    def models(self) -> tuple[LanguageModel, ...]:
        """The target and, if there is one, the draft model."""
        return (self.target.model, self.draft.model) if self.draft else (self.target.model,)

    @property
    def n_read(self) -> int:
        """Maximum number of tokens per decode when a prompt is read."""
        return min(model.n_batch for model in self.models)

    def empty(self, *, wipe: bool = False) -> None:
        """Empty both contexts; `wipe` also zeroes them, since invalid numbers could remain."""
        if self.states is not None:
            self.states.owner = None
        for context in (self.target, self.draft):
            if context:
                context.clear(wipe=wipe)

    def forget(self, *, keeps_rates: bool = False) -> None:
        """Forget the texts of replies; measurements and remembered texts stay.

        Args:
            keeps_rates: Whether the acceptance of drafts stays, too.
        """
        self.empty()
        self.kept.clear()
        self.knowledge.forget(keeps_rates=keeps_rates)
        self.has_forgotten = True

    def close(self) -> None:
        """Store what the contexts hold, then free both models. A second call does nothing."""
        states, self.states = self.states, None
        try:
            if states is not None and not self.is_lost:
                states.close()
        finally:
            for model in reversed(self.models):
                model.close()
