"""Plans the memory of a pair, device by device, and says what to change when it does not fit.

What is predicted is how much the memory of the engine's process grows from before the load to after
a decode that fills the context. For the CPU that is the process's PSS, pages of the model file
included; `tests/integration/test_memory_prediction.py` checks it. For a GPU it is what
`ggml_backend_dev_memory` (`engine.llama.library.devices`) calls free before the load and after such
a decode, on a machine on which nothing else uses the GPU: the difference, less the driver's context
that the first model of a process brings along, is to be compared with `DevicePlan.target` and
`draft` of that device.

Automatic values, the GPU layers of both models and the context, are decided first. The draft model
is placed before the target, since its small decodes are limited by memory speed; then as many
layers of the target as find room, from the last to the first; and only when even the CPU's memory
does not suffice is the context made shorter, if its length is automatic. RPC servers are used where
the GPUs of this machine have no room for all layers, or there are none (decision 158). llama.cpp
itself takes all layers or fails. A target's head is loaded as the target is, and counted as its
drafter. Pure functions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from msgspec import structs

from paceline.catalog.card import ModelCard
from paceline.catalog.memory.load import Load, without_heads
from paceline.catalog.memory.machine import Machine, gpus_for, places
from paceline.catalog.memory.use import going_back, shares
from paceline.catalog.memory.values import (
    DevicePlan,
    Measurement,
    MemoryPlan,
    MemoryRemedy,
    Saving,
    Share,
)
from paceline.engine.auto.costs import MAX_WIDTH
from paceline.engine.draft.heads import drafts_with, head_title
from paceline.engine.model.memory_hints import (
    CTX_STEP_TOKENS,
    FEWER_PROGRAMS,
    MIN_PROPOSAL_TOKENS,
    QUANTISED_CACHE,
    SMALLER_MODEL,
    a_context_of,
    has_plain_cache,
    what_helps,
)
from paceline.engine.model.states import MAX_STATES
from paceline.messages import DeviceInfo
from paceline.params import MTP, Drafting, DraftModel, ModelParams, TargetHead, with_params
from paceline.sentence import joined, sentence

T = TypeVar("T")
AUTO_LAYERS = -1
AUTO_CTX = 0
_NOTHING = Share()


def fit_loads(target: Load, draft: Load | None, machine: Machine) -> tuple[Load, Load | None]:
    """Decide for both models; when nothing fits, with the longest possible context."""

    def placed(n_ctx: int) -> tuple[Load, Load | None]:
        return _place(
            _with_decided_ctx(target, n_ctx), draft and _with_decided_ctx(draft, n_ctx), machine
        )

    left_open = [
        load.n_ctx for load in (target, draft) if load is not None and load.params.n_ctx == AUTO_CTX
    ]
    longest = max(left_open, default=AUTO_CTX)
    lengths = [longest, *shorter_contexts(longest)]
    n_ctx = first_that(lengths, lambda n: fits(*placed(n), machine))
    return placed(longest if n_ctx is None else n_ctx)


def fits(target: Load, draft: Load | None, machine: Machine) -> bool:
    """Return whether both models, as placed, fit into every device."""
    return all(device.fits for device in device_plans(target, draft, machine))


def shorter_contexts(n_ctx: int) -> range:
    """Return the contexts to try instead of one that does not fit, the longest first."""
    return range(
        (n_ctx - 1) // CTX_STEP_TOKENS * CTX_STEP_TOKENS, MIN_PROPOSAL_TOKENS - 1, -CTX_STEP_TOKENS
    )


def first_that(options: Sequence[T], suits: Callable[[T], bool]) -> T | None:
    """Return the first suitable option, by bisection; None when there is none.

    Args:
        options: Each takes less than the one before it, so that all after a suitable one suit.
        suits: Asked a few times.
    """
    if suits(options[0]):
        return options[0]
    i = bisect_left(options, True, lo=1, key=suits)  # noqa: FBT003
    return options[i] if i < len(options) else None


def device_plans(target: Load, draft: Load | None, machine: Machine) -> tuple[DevicePlan, ...]:
    """Return what both models take of each device, the CPU's memory last."""
    first = shares(target, machine, machine.free)
    rest = {  # the target is loaded first, and several GPUs share by what is free then
        name: free - first[name].total - first[name].states if name in first else free
        for name, free in machine.free.items()
    }
    drafter = draft or target.head
    second = shares(drafter, machine, rest) if drafter else {}
    layers, draft_layers = _layers(target, machine, machine.free), _layers(draft, machine, rest)
    plans = []
    devices = (*machine.gpus, machine.cpu)
    guests: dict[str, int] = {}  # bytes that others take of a device's memory
    for device in devices:
        parts = first.get(device.name, _NOTHING), second.get(device.name, _NOTHING)
        guests[device.shares] = guests.get(device.shares, 0) + sum(part.total for part in parts)
    for device in devices:
        mine, drafts = first.get(device.name, _NOTHING), second.get(device.name, _NOTHING)
        others = guests.get(device.name, 0)
        used = mine.total + drafts.total + others
        plans.append(
            DevicePlan(
                device=device.name,
                title="Memory" if device.kind == "cpu" else device.description or device.name,
                target=mine,
                draft=drafts,
                free=max(machine.free[device.name] - others, 0),
                total=device.total_bytes,
                margin=machine.margin(device) if used else 0,
                n_layers=layers[device.name],
                n_draft_layers=draft_layers[device.name],
                shares=device.shares,
            )
        )
    return tuple(plans)


def _layers(load: Load | None, machine: Machine, free: Mapping[str, int]) -> Counter[str]:
    """Return how many layers of a model lie where."""
    return Counter(places(load.card.n_layers, load.params, machine, free) if load else ())


def _with_decided_ctx(load: Load, most: int) -> Load:
    """Return the model with its context decided, at most so long."""
    if load.params.n_ctx != AUTO_CTX:
        return load
    return load.changed(n_ctx=min(load.n_ctx, most))


def _place(target: Load, draft: Load | None, machine: Machine) -> tuple[Load, Load | None]:
    """Decide the layers of both models at these contexts."""
    if draft is not None:
        away = _on_cpu(target, machine) if target.params.n_gpu_layers == AUTO_LAYERS else target
        ways = _candidates(draft, machine)
        draft = first_that(ways, lambda way: _gpus_suffice(away, way, machine)) or ways[-1]
    ways = _candidates(target, machine)
    return first_that(ways, lambda way: _gpus_suffice(way, draft, machine)) or ways[-1], draft


def _candidates(load: Load, machine: Machine) -> list[Load]:
    """Return the ways to place a model: all on GPUs of this machine, then most on GPUs first.

    Where devices or shares are given, or only servers have some, there is no such first way.
    """
    params, gpus = load.params, gpus_for(load.params, machine)
    if params.n_gpu_layers != AUTO_LAYERS or not gpus:
        return [load]
    n_all = load.card.n_layers + 1
    ways = [load.changed(n_gpu_layers=n) for n in range(n_all, -1, -1)]
    here = [gpu.name for gpu in gpus if not gpu.server]
    is_open = not (params.device or params.tensor_split or params.split_mode)
    if is_open and 0 < len(here) < len(gpus):
        ways.insert(0, load.changed(device=",".join(here), n_gpu_layers=n_all))
    return [*ways, _on_cpu(load, machine)]


def _on_cpu(load: Load, machine: Machine) -> Load:
    """Return the model without any GPU, which would compute large batches even for no layer."""
    return load.changed(device=machine.cpu.name, n_gpu_layers=0)


def _gpus_suffice(target: Load, draft: Load | None, machine: Machine) -> bool:
    return all(device.fits for device in device_plans(target, draft, machine)[:-1])


def plan(
    target: ModelCard,
    target_params: ModelParams,
    draft: ModelCard | None,
    drafting: Drafting,
    devices: Sequence[DeviceInfo],
    *,
    measured_target: Measurement | None = None,
    measured_draft: Measurement | None = None,
    reclaimable: Mapping[str, int] | None = None,
) -> MemoryPlan:
    """Return what a pair takes of each device, with GPU layers and context decided.

    Args:
        target: The target.
        target_params: Requested parameters; -1 GPU layers and a context of 0 are resolved here.
        draft: The file of the draft model, or with the target's head, or None if there is none.
        drafting: The draft model or head; a head in the target's file counts if there is one.
        devices: The devices, as reported by the engine.
        measured_target: A dry run of the target with these parameters, if there was one.
        measured_draft: The same of the draft model or the head.
        reclaimable: Bytes that unloading the loaded pair frees, by device name.
    """
    machine = Machine.of(devices, reclaimable or {})
    card = without_heads(target)
    wanted = Load(card, target_params, MAX_WIDTH, measured_target, target_params, MAX_STATES)
    drafter: Load | None = None
    match drafting:
        case DraftModel(params=params) if draft is not None:
            drafter = Load(draft, params, 1, measured_draft, params)
        case TargetHead() if draft is not None:
            wanted = wanted.with_head(draft, measured_draft)
    first, second = fit_loads(wanted, drafter, machine)
    plans = device_plans(first, second, machine)
    return MemoryPlan(
        devices=plans,
        target=first.params,
        drafting=with_params(drafting, second.params if second else None),
        remedies=()
        if all(device.fits for device in plans)
        else tuple(way.remedy(drafting) for way in remedies(wanted, drafter, machine)),
        is_measured=measured_target is not None and (second is None or measured_draft is not None),
        going_back=going_back(first, machine, machine.free) if measured_target else None,
    )


_QUANTISED = "q8_0"
FEWER_LAYERS = sentence("automatic GPU layers")
_PARTS = (2, 4, 8, 16)


class _Way(NamedTuple):
    """A way to make a pair fit, and both models as they are loaded then."""

    saving: Saving
    text: str
    target: Load
    draft: Load | None

    def remedy(self, drafting: Drafting) -> MemoryRemedy:
        """Return what is said of it, where this was to draft."""
        is_given_up = self.saving == "no-head" or (
            self.draft is None and isinstance(drafting, DraftModel)
        )
        params = self.draft.params if self.draft is not None else None
        then = None if is_given_up else with_params(drafting, params)
        return MemoryRemedy(self.saving, self.text, self.target.params, then)


def remedies(target: Load, draft: Load | None, machine: Machine) -> tuple[_Way, ...]:
    """Return what to change for a pair that does not fit, the least costly first; at least one.

    In this order: no more than sliding windows in the target's cache, a quantised cache of the
    draft model, the draft model on the CPU, a shorter context for it, a smaller draft model,
    lookups without one or without the head. Each is planned again and offered only if the pair
    fits then. When even the target alone does not fit, one sentence says what would.

    Args:
        target: The target as it was wanted, before anything was decided.
        draft: The draft model likewise, or None if there is none.
        machine: The devices.
    """
    found: list[_Way] = []
    if saved := _beyond_windows(target, machine):
        text = sentence(
            "Keep no more than their window in the model's layers that have one: {saved:size} "
            "less. A change far back in a long chat then reads the prompt again, and the same "
            "text with any strategy is not promised.",
            saved=saved,
        )
        found += _if_fitting("windows", text, target.changed(swa_full=False), draft, machine)
    if target.head is not None:
        title = head_title(drafts_with(target.head.card.sidecar) or MTP)
        target = replace(target, head=None)
        text = sentence("Draft by lookups alone, without the {head}.", head=title)
        found += _if_fitting("no-head", text, target, None, machine)
    if draft is not None:
        found += _with_draft(target, draft, machine)
        text = sentence("Draft by lookups alone, without a draft model.")
        found += _if_fitting("lookups", text, target, None, machine)
    return tuple(found) or (_nothing_fits(target, draft, machine),)


def _with_draft(target: Load, draft: Load, machine: Machine) -> Iterator[_Way]:
    if quantised := _quantised(draft):
        text = sentence(
            "Keep the draft model's cache in {quantised}. On a processor it then "
            "reads long prompts about three times slower.",
            quantised=_QUANTISED,
        )
        yield from _if_fitting("draft-cache", text, target, quantised, machine)
    if gpus_for(draft.params, machine):
        text = sentence("Keep the draft model in the CPU's memory.")
        yield from _if_fitting("draft-on-cpu", text, target, _on_cpu(draft, machine), machine)
    n_ctx = _longest(draft, lambda shorter: _fitted(target, shorter, machine) is not None)
    if n_ctx:
        text = sentence(
            "Give the draft model a context of {n_ctx:,} tokens; of longer chats it "
            "knows the end alone.",
            n_ctx=n_ctx,
        )
        shorter = draft.changed(n_ctx=n_ctx)
        yield from _if_fitting("draft-context", text, target, shorter, machine)
    for part in _PARTS:
        smaller = replace(draft, card=_part_of(draft.card, part), measured=None)
        if _fitted(target, smaller, machine):
            text = sentence(
                "Choose a smaller draft model: one of {size:size} would fit.",
                size=smaller.card.n_bytes,
            )
            yield _Way("smaller-draft", text, target, draft)
            break


def _if_fitting(
    saving: Saving, text: str, target: Load, draft: Load | None, machine: Machine
) -> Iterator[_Way]:
    """Yield a way if the pair fits with it."""
    if fitted := _fitted(target, draft, machine):
        yield _Way(saving, text, *fitted)


def _fitted(target: Load, draft: Load | None, machine: Machine) -> tuple[Load, Load | None] | None:
    """Return both models as they fit; None when they do not."""
    fitted = fit_loads(target, draft, machine)
    return fitted if fits(*fitted, machine) else None


def _named(device: DevicePlan, machine: Machine) -> str:
    """Return a device's name as it stands within a sentence."""
    return sentence("memory") if device.device == machine.cpu.name else device.title


def _longest(load: Load, suits: Callable[[Load], bool]) -> int:
    """Return the longest shorter context that suits, or 0 if there is none."""
    lengths = shorter_contexts(load.n_ctx)
    if not lengths:
        return 0
    return first_that(lengths, lambda n: suits(load.changed(n_ctx=n))) or 0


def _beyond_windows(load: Load, machine: Machine) -> int:
    return sum(share.beyond_windows for share in shares(load, machine, machine.free).values())


def _quantised(load: Load) -> Load | None:
    """Return the model with a smaller cache; None when it has one."""
    if not has_plain_cache(load.params):
        return None
    values = load.params.kv_type_v if load.params.flash_attn == "off" else _QUANTISED
    return load.changed(kv_type_k=_QUANTISED, kv_type_v=values)


def _part_of(card: ModelCard, n: int) -> ModelCard:
    """Return a made-up model of an n-th of the size, with the same vocabulary."""
    return structs.replace(
        card,
        n_bytes=card.n_bytes // n,
        n_layers=max(card.n_layers // n, 1),
        layer_bytes=card.layer_bytes[: max(card.n_layers // n, 1)],
        expert_bytes=card.expert_bytes[: max(card.n_layers // n, 1)],
        kv_elements=card.kv_elements[: max(card.n_layers // n, 1)],
        input_bytes=card.input_bytes // n,
        output_bytes=card.output_bytes // n,
        tied_bytes=card.tied_bytes // n,
    )


def _nothing_fits(target: Load, draft: Load | None, machine: Machine) -> _Way:
    """Return the sentence for a target that finds no room, and the closest that would."""
    plans = device_plans(*fit_loads(target, None, machine), machine)
    missing = [
        sentence("{size:size} ({where})", size=device.missing, where=_named(device, machine))
        for device in plans
        if device.missing
    ]
    ways, chosen = list[str](), target
    automatic = target.changed(n_gpu_layers=AUTO_LAYERS)
    if automatic.params != target.params and _fitted(automatic, None, machine):
        ways.append(FEWER_LAYERS)
        chosen = automatic
    n_ctx = _longest(target, lambda shorter: _fitted(shorter, None, machine) is not None)
    if n_ctx:
        ways.append(a_context_of(n_ctx))
        chosen = target.changed(n_ctx=n_ctx) if chosen is target else chosen
    quantised = _quantised(target)
    if quantised and _fitted(quantised, None, machine):
        ways.append(QUANTISED_CACHE)
        chosen = quantised if chosen is target else chosen
    ways.append(SMALLER_MODEL)
    text = sentence(
        "The model does not fit, even without a draft model. Missing: {missing}. {help}",
        missing=joined(missing, ", "),
        help=what_helps([*ways, FEWER_PROGRAMS]),
    )
    return _Way("none", text, chosen, draft)
