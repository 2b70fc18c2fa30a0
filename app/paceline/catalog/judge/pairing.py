"""The verdict on a pair: one model can draft for another or not, and is likely to be faster or not.

What refuses a pair is what the engine refuses: models that do not write, and vocabularies that
differ by llama.cpp's rules (`engine/model/vocabularies`) and have too few tokens in common for
drafts to be translated (`engine/model/translation`). The rest are remarks. Whether drafting
is faster depends on machine and text and is not known before it is tried; the statements about it
are rules of thumb from published measurements: the draft should read at most a quarter of the bytes
that the target reads per token (Leviathan et al. 2022, arXiv 2211.17192, section 3: the cost
ratio), and small targets on fast devices gain little. Pure functions, but for what is expensive to
check, which depends on the processor. Any thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from msgspec import structs

from paceline.catalog.card import Examined, ModelCard, Nature
from paceline.codec import made_of
from paceline.engine.draft.heads import drafts_with, head_kind, head_title
from paceline.engine.model.translation import MIN_SHARE, share_of, words_on_translation
from paceline.engine.model.vocabularies import Mismatch, vocabulary_mismatch
from paceline.installation import kernel_files
from paceline.sentence import sentence

Level = Literal["good", "note", "bad"]
Outlook = Literal["good", "little", "slower", ""]
"""The expected gain of drafting, or empty if nothing is known."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One finding about a pair.

    Attributes:
        code: Stable name in kebab-case, e.g. ``token-differs``.
        text: One sentence.
        level: "bad" refuses the pair, "note" is a remark, "good" speaks for it.
    """

    code: str
    text: str
    level: Level


@dataclass(frozen=True, slots=True)
class Remedy:
    """The pair to take instead.

    Attributes:
        text: One sentence that says it.
        target: Path or ``hf:`` reference of the target to take; empty means the one that was
            judged.
        draft: Path or ``hf:`` reference of the draft model to take, or empty if there is none.
        strategy: The strategy to use with it; empty means the usual one.
    """

    text: str
    target: str = ""
    draft: str = ""
    strategy: str = ""


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """Judgement whether a draft model can draft for a target.

    Attributes:
        ok: Whether the pair can be loaded and speculates.
        reasons: The findings, the most important first; never empty.
        gain: The expected gain in words; empty if nothing is known.
        remedy: None where nothing better is known or needed.
        translated: If the vocabularies differ, the share of the target's tokens that the draft
            model has, too, 0..1; else None.
        is_about_head: Whether the drafter is a head.
        outlook: The expected gain in one word.
    """

    ok: bool
    reasons: tuple[Reason, ...]
    gain: str = ""
    remedy: Remedy | None = None
    translated: float | None = None
    is_about_head: bool = False
    outlook: Outlook = ""


BY_TRANSLATION = "by-translation"
"""Code of the reason that drafts are translated."""
MAX_RATIO = 0.25
"""Upper bound of the ratio of bytes read per token, draft to target, at which drafting is expected
to be faster."""
GOOD_RATIO = 0.1
NOTHING_TO_DRAFT = sentence(
    "The model does not write text from left to right, so nothing can be drafted."
)
_SMALL_TARGET_PARAMS = 3_000_000_000
"""Weights of a target below which LM Studio's documentation and draftbench report no gain."""
_FEW_BITS = 3.5
_MANY_BITS = 12.0
_LARGE_DRAFT_PARAMS = 1_000_000_000
_EXPENSIVE_TO_CHECK = ("Q1_0", "Q2_0", "TQ", "NVFP4")
"""Quantisations whose weights neither llama.cpp's CPU kernels nor Paceline's (the table of
`app/kernels/kernels.cpp`) read once for several tokens."""
_EXPENSIVE_BY_STOCK_KERNELS = ("IQ1", "IQ2", "IQ3", "Q2_K")
"""Types of weights that only Paceline's kernels read once for several tokens."""
_COMMON_WORDS = frozenset(
    {"a", "and", "base", "chat", "draft", "gguf", "instruct", "it", "meta", "mini", "model", "of",
     "preview", "small", "large", "the", "ai", "v", "b", "m"}
)  # fmt: skip
"""Words of models' names that do not name a family."""


@dataclass(frozen=True, slots=True)
class _Tokens:
    """A vocabulary in the form that `vocabulary_mismatch` takes."""

    kind: int
    n_tokens: int
    bos: int
    eos: int
    add_bos: bool
    add_eos: bool
    text: Callable[[int], bytes]

    @classmethod
    def of(cls, model: Examined) -> _Tokens:
        return made_of(cls, model.nature, text=model.texts.__getitem__)


def mismatch(target: Examined, draft: Examined) -> Mismatch | None:
    """Return why the draft's tokens cannot be read as the target's; None when they can."""
    return vocabulary_mismatch(_Tokens.of(target), _Tokens.of(draft))


def judge(target: Examined, draft: Examined) -> PairVerdict:
    """Return whether a draft model can draft for a target, why, and the expected gain.

    Takes about 20 ms for vocabularies of 262k tokens, and 0.5 s where they differ. File names play
    no part.
    """
    found = [*_silences(target, draft)]
    differs, share = mismatch(target, draft), None
    if differs is not None:
        share = share_of(_Tokens.of(target), _Tokens.of(draft))
        found.append(_on_translation(differs, share))
    ok = all(reason.level != "bad" for reason in found)
    if ok:
        found += _remarks(target, draft, is_alike=differs is None)
    order = {"bad": 0, "note": 1, "good": 2}
    reasons = sorted(found, key=lambda reason: order[reason.level])  # stable
    outlook, gain = _expected_gain(target, draft, is_alike=differs is None) if ok else ("", "")
    return PairVerdict(ok, tuple(reasons), gain, translated=share, outlook=outlook)


def reads_alike(target: Examined, draft: Examined) -> bool:
    """Return whether a pair can be loaded, and needs no translation."""
    return not any(_silences(target, draft)) and mismatch(target, draft) is None


def judge_head(target: Examined, head: ModelCard | None) -> PairVerdict:
    """Return whether a head can draft for a target, why, and the expected gain.

    Args:
        target: The model to draft for.
        head: The file with the head; None means the target's own.
    """
    ours = target.card
    found: list[Reason] = []
    if not target.nature.writes:
        found.append(Reason("target-does-not-write", NOTHING_TO_DRAFT, "bad"))
    if head is None and not ours.n_heads:
        found.append(Reason("no-head", "The model has no MTP head inside.", "bad"))
    if head is not None and (text := _why_not_head_of(ours, head)):
        found.append(Reason("other-head", text, "bad"))
    if found:
        return PairVerdict(ok=False, reasons=tuple(found), is_about_head=True)
    if head is not None:
        title = head_title(drafts_with(head.sidecar))
        fits = sentence("The {head} is the model's, so no second model is needed.", head=title)
    else:
        fits = sentence("The model has its MTP head inside, so no second model is needed.")
    found = [
        *_about_experts(ours),
        *_about_checking(ours),
        *_about_memory("target", target.nature),
        *_about_template(ours),
        Reason("head-fits", fits, "good"),
    ]
    outlook: Outlook = "good"
    gain = sentence("Expect a gain on code and other predictable text, little on free prose.")
    if ours.n_experts or ours.n_params < _SMALL_TARGET_PARAMS:
        outlook = "little"
        gain = sentence(
            "Expect little: with small models and mixtures of experts heads seldom pay."
        )
    return PairVerdict(
        ok=True, reasons=tuple(found), gain=gain, is_about_head=True, outlook=outlook
    )


def _why_not_head_of(target: ModelCard, head: ModelCard) -> str:
    """Return why a head cannot read this target's states by the headers, or empty if it can.

    The rule is that of a load (`engine/llama/mtp_head.py`).
    """
    kind = head_kind(head.sidecar)
    title = head_title(drafts_with(head.sidecar))
    targets = kind.targets if kind is not None else ""
    architecture = targets or head.architecture
    are_texts_same = "" in (target.vocabulary, head.vocabulary) or (
        target.vocabulary == head.vocabulary
    )
    if target.architecture != architecture or not are_texts_same:
        return sentence(
            "The {head} is not the model's: it was made for “{name}”.", head=title, name=head.name
        )
    width = target.n_embd_out or target.n_embd
    # A head with its own architecture has its own width; its header also names the target's.
    read = head.n_embd_out or (width if targets else head.n_embd)
    if read != width:
        return sentence(
            "The {head} is not the model's: it reads {read} columns, and the model's states "
            "have {width}.",
            head=title,
            read=read,
            width=width,
        )
    return ""


def bytes_per_token(card: ModelCard) -> int:
    """Return an upper bound of the bytes of weights that a decode of one token reads.

    All weights except the embeddings, of which it reads one row; where these serve as the output,
    they are read, too. Of a mixture's experts those that work on one token are counted; where the
    header does not say how many do, all of them.
    """
    inner = sum(card.layer_bytes)
    if card.n_experts and card.n_experts_used:
        idle = 1 - min(card.n_experts_used / card.n_experts, 1)
        inner -= int(idle * sum(card.expert_bytes))
    return inner + card.output_bytes + card.tied_bytes or card.n_bytes


def size_ratio(target: ModelCard, draft: ModelCard) -> float:
    """Return the draft's bytes per token as a fraction of the target's."""
    return bytes_per_token(draft) / max(bytes_per_token(target), 1)


def _have_weights(target: ModelCard, draft: ModelCard) -> bool:
    return target.n_bytes > 0 and draft.n_bytes > 0


def is_same_model(target: Examined, draft: Examined) -> bool:
    """Return whether both are one model; file names are ignored."""
    same = structs.replace(target.card, name="") == structs.replace(draft.card, name="")
    return same and target.nature == draft.nature


# ------------------------------------------------------------------------------------ refusals


def _silences(target: Examined, draft: Examined) -> Iterator[Reason]:
    if not target.nature.writes:
        yield Reason("target-does-not-write", NOTHING_TO_DRAFT, "bad")
    if not draft.nature.writes:
        text = sentence(
            "The draft model does not write text from left to right, so it cannot draft."
        )
        yield Reason("draft-does-not-write", text, "bad")


def _on_translation(differs: Mismatch, share: float) -> Reason:
    is_enough = share >= MIN_SHARE
    code = BY_TRANSLATION if is_enough else differs.code
    return Reason(code, words_on_translation(differs, share), "note" if is_enough else "bad")


# ------------------------------------------------------------------------------------- remarks


def _remarks(target: Examined, draft: Examined, *, is_alike: bool) -> Iterator[Reason]:
    yield from _about_size(target, draft)
    if is_alike:
        yield from _about_vocabulary(target, draft)
    yield from _about_family(target.card, draft.card)
    yield from _about_quantisation(draft.card)
    yield from _about_checking(target.card)
    yield from _about_memory("target", target.nature)
    yield from _about_memory("draft", draft.nature)
    yield from _about_template(target.card)
    yield from _about_the_rest(target.card, draft.card)


def _about_size(target: Examined, draft: Examined) -> Iterator[Reason]:
    ratio = size_ratio(target.card, draft.card)
    share = sentence("less than 1 %")
    if ratio >= 0.01:
        share = sentence("{n:.0f} %", n=100 * ratio)
    reads = sentence(
        "The draft model reads {share} of the bytes that the main model reads per token",
        share=share,
    )
    if is_same_model(target, draft):
        text = sentence("Both are the same model, so drafting costs as much as it saves.")
        yield Reason("same-model", text, "note")
    elif not _have_weights(target.card, draft.card):
        return  # a file that is only a vocabulary has no weights
    elif ratio > 1:
        text = sentence(
            "The draft model is larger than the main model; the other way round they may pay."
        )
        yield Reason("draft-larger", text, "note")
    elif ratio > MAX_RATIO:
        text = sentence(
            "{reads}; above {most:.0f} % drafting hardly pays.",
            reads=reads,
            most=100 * MAX_RATIO,
        )
        yield Reason("draft-large", text, "note")
    else:
        yield Reason("draft-small", sentence("{reads}.", reads=reads), "good")
    yield from _about_experts(target.card)


def _about_experts(target: ModelCard) -> Iterator[Reason]:
    if target.n_experts:
        yield Reason(
            "target-has-experts",
            "The model is a mixture of experts: checking several tokens at once reads more "
            "experts than writing one, which eats a part of the gain.",
            "note",
        )


def _about_vocabulary(target: Examined, draft: Examined) -> Iterator[Reason]:
    ours, theirs = target.nature.n_tokens, draft.nature.n_tokens
    if ours == theirs:
        yield Reason(
            "vocabulary-fits", sentence("Both read the same {ours:,} tokens.", ours=ours), "good"
        )
        return
    more = sentence("main model") if ours > theirs else sentence("draft model")
    yield Reason(
        "vocabulary-tail",
        sentence(
            "The first {n:,} tokens are the same; the {model} has {n_more:,} more, "
            "which are never drafted.",
            n=min(ours, theirs),
            model=more,
            n_more=abs(ours - theirs),
        ),
        "good",
    )


def _about_family(target: ModelCard, draft: ModelCard) -> Iterator[Reason]:
    if target.family and target.family == draft.family:
        yield Reason(
            "same-family",
            sentence("Both are of the family “{family}”.", family=target.family),
            "good",
        )
    elif target.family and draft.family:
        names = sentence("“{ours}” and “{theirs}”", ours=target.family, theirs=draft.family)
        if family_words(target.family) & family_words(draft.family):
            yield Reason(
                "related-family",
                sentence("Their families are related: {names}.", names=names),
                "good",
            )
        else:
            yield Reason(
                "other-family",
                sentence(
                    "They come from different families, {names}; fewer drafted tokens may be "
                    "right.",
                    names=names,
                ),
                "note",
            )


def family_words(family: str) -> frozenset[str]:
    """Return the words that name a family, e.g. ``{"qwen", "coder"}`` of "Qwen2.5-Coder"."""
    words = re.findall(r"[a-z]+", family.lower())
    return frozenset(word for word in words if word not in _COMMON_WORDS)


def _about_quantisation(draft: ModelCard) -> Iterator[Reason]:
    bits = 8 * draft.n_bytes / max(draft.n_params, 1)
    if 0 < bits < _FEW_BITS:
        yield Reason(
            "draft-few-bits",
            sentence(
                "The draft model has {bits:.1f} bits per weight; with so few, fewer "
                "drafted tokens may be right.",
                bits=bits,
            ),
            "note",
        )
    elif bits > _MANY_BITS and draft.n_params >= _LARGE_DRAFT_PARAMS:
        yield Reason(
            "draft-many-bits",
            sentence(
                "The draft model has {bits:.0f} bits per weight; one of 8 bits reads "
                "half as much or less per drafted token.",
                bits=bits,
            ),
            "note",
        )


def _about_checking(target: ModelCard) -> Iterator[Reason]:
    kind = target.quantisation
    if kind.startswith(_EXPENSIVE_TO_CHECK) or (
        kind.startswith(_EXPENSIVE_BY_STOCK_KERNELS) and not kernel_files.is_possible()
    ):
        yield Reason(
            "target-slow-to-verify",
            sentence(
                "On a processor, checking several tokens in {quantisation} costs about "
                "as much as writing them one by one; it costs least in Q4_0, IQ4_NL, "
                "Q4_K and Q8_0.",
                quantisation=kind,
            ),
            "note",
        )


def _about_memory(role: Literal["target", "draft"], nature: Nature) -> Iterator[Reason]:
    if nature.memory != "attention":
        yield Reason(
            f"{role}-has-states",
            sentence(
                "The {who} has a recurrent memory: taking tokens back costs earlier "
                "states or copies of one, which eat a part of the gain.",
                who=sentence("main model") if role == "target" else sentence("draft model"),
            ),
            "note",
        )


def _about_template(target: ModelCard) -> Iterator[Reason]:
    if not target.has_template:
        yield Reason(
            "no-template",
            "The model brings no chat template, so it is probably a base model, which goes on "
            "with a text and was not made to chat. How a chat is written for it is a guess.",
            "note",
        )


def _about_the_rest(target: ModelCard, draft: ModelCard) -> Iterator[Reason]:
    if 0 < draft.n_ctx_train < target.n_ctx_train:
        yield Reason(
            "draft-context",
            sentence(
                "The draft model was trained for {theirs:,} tokens and the main model for "
                "{ours:,}; of longer chats it knows the end alone.",
                theirs=draft.n_ctx_train,
                ours=target.n_ctx_train,
            ),
            "note",
        )
    if draft.license and draft.license.lower() != target.license.lower():
        theirs = sentence("not named")
        if target.license:
            theirs = sentence("“{name}”", name=target.license)
        yield Reason(
            "other-license",
            sentence(
                "The draft model's licence is “{license}”, the main model's is {theirs}.",
                license=draft.license,
                theirs=theirs,
            ),
            "note",
        )


# ---------------------------------------------------------------------------------------- gain


def _expected_gain(target: Examined, draft: Examined, *, is_alike: bool) -> tuple[Outlook, str]:
    """Return the expected gain, in a word and a sentence; nothing was measured with this pair."""
    ratio = size_ratio(target.card, draft.card)
    if not _have_weights(target.card, draft.card):
        return "", ""
    if is_same_model(target, draft) or ratio > 1:
        return "slower", sentence("Expect replies to become slower.")
    if ratio > MAX_RATIO:
        return "little", sentence(
            "Expect little: the draft model is too large beside the main model."
        )
    if target.card.n_params < _SMALL_TARGET_PARAMS:
        return "little", sentence(
            "Expect little on a GPU, where so small a model is fast by itself; on a CPU it may pay."
        )
    if not is_alike:
        return "little", sentence(
            "Different tokenizers, still usable: expect a gain where the text is predictable."
        )
    if target.card.n_experts:
        return "little", sentence(
            "Expect less than with a dense model, and most on code and other predictable text."
        )
    if ratio > GOOD_RATIO:
        return "good", sentence(
            "Expect a gain on code and other predictable text, little on free prose."
        )
    return "good", sentence(
        "Expect a clear gain on code and other predictable text, less on free prose."
    )
