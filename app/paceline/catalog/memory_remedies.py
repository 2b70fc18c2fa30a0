"""What to give up for a pair that does not fit, the mildest first.

In this order: a quantised cache of the draft model, the draft model on the CPU, a shorter context
for it, a smaller draft model, lookups without one. Each is planned again and offered only if the
pair fits then. When even the target alone finds no room, one sentence says what would. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from paceline.catalog.card import ModelCard
from paceline.catalog.fitting import (
    AUTO_LAYERS,
    device_plans,
    first_that,
    fit_loads,
    fits,
    shorter_contexts,
)
from paceline.catalog.memory_use import Load
from paceline.catalog.memory_values import DevicePlan, MemoryRemedy, Saving
from paceline.catalog.placement import Machine, gpus_for
from paceline.engine.proposals import (
    CLOSE_PROGRAMS,
    QUANTISED_CACHE,
    SMALLER_MODEL,
    a_context_of,
    choose,
    has_plain_cache,
    readable_size,
)

_QUANTISED = "q8_0"
FEWER_LAYERS = "automatic GPU layers"
_PARTS = (2, 4, 8, 16)


def remedies(target: Load, draft: Load | None, machine: Machine) -> tuple[MemoryRemedy, ...]:
    """Return the ways out, in their order, at least one.

    Args:
        target: The target as it was wanted, before anything was decided.
        draft: The draft model likewise; None: there is none.
        machine: The devices.
    """
    found: list[MemoryRemedy] = []
    if draft is not None:
        found += _with_draft(target, draft, machine)
        fitted = _fitted(target, None, machine)
        if fitted:
            text = "Draft by lookups alone, without a draft model."
            found.append(MemoryRemedy("lookups", text, fitted[0].params, None))
    return tuple(found) or (_nothing_fits(target, draft, machine),)


def _with_draft(target: Load, draft: Load, machine: Machine) -> Iterator[MemoryRemedy]:
    mild: tuple[tuple[Load | None, Saving, str], ...] = (
        (_quantised(draft), "draft-cache", f"Keep the draft model's cache in {_QUANTISED}."),
        (_on_cpu(draft, machine), "draft-on-cpu", "Keep the draft model in the CPU's memory."),
    )
    for changed, saving, text in mild:
        fitted = changed and _fitted(target, changed, machine)
        if fitted:
            yield _remedy(saving, text, fitted)
    n_ctx = _longest(draft, lambda shorter: _fitted(target, shorter, machine) is not None)
    if n_ctx:
        fitted = _fitted(target, _with_ctx(draft, n_ctx), machine)
        assert fitted is not None
        text = f"Give the draft model a context of {n_ctx} tokens; longer chats go on plainly."
        yield _remedy("draft-context", text, fitted)
    for part in _PARTS:
        smaller = replace(draft, card=_part_of(draft.card, part), measured=None)
        if _fitted(target, smaller, machine):
            size = readable_size(smaller.card.n_bytes)
            yield MemoryRemedy(
                "smaller-draft",
                f"Choose a smaller draft model: one of {size} would fit.",
                target.params,
                draft.params,
            )
            break


def _remedy(saving: Saving, text: str, fitted: tuple[Load, Load | None]) -> MemoryRemedy:
    target, draft = fitted
    return MemoryRemedy(saving, text, target.params, draft.params if draft else None)


def _fitted(target: Load, draft: Load | None, machine: Machine) -> tuple[Load, Load | None] | None:
    """Return both models as they fit; None when they do not."""
    fitted = fit_loads(target, draft, machine)
    return fitted if fits(*fitted, machine) else None


def _with_ctx(load: Load, n_ctx: int) -> Load:
    return load.with_params(replace(load.params, n_ctx=n_ctx))


def _with_layers(load: Load, n_gpu_layers: int) -> Load:
    return load.with_params(replace(load.params, n_gpu_layers=n_gpu_layers))


def _named(device: DevicePlan, machine: Machine) -> str:
    """Return a device's name as it stands within a sentence."""
    return "memory" if device.device == machine.cpu.name else device.title


def _longest(load: Load, suits: Callable[[Load], bool]) -> int:
    """Return the longest shorter context that suits; 0: none."""
    lengths = shorter_contexts(load.n_ctx)
    if not lengths:
        return 0
    return first_that(lengths, lambda n: suits(_with_ctx(load, n))) or 0


def _quantised(load: Load) -> Load | None:
    """Return the model with a smaller cache; None when it has one."""
    if not has_plain_cache(load.params):
        return None
    values = load.params.kv_type_v if load.params.flash_attn == "off" else _QUANTISED
    return load.with_params(replace(load.params, kv_type_k=_QUANTISED, kv_type_v=values))


def _on_cpu(load: Load, machine: Machine) -> Load | None:
    """Return the model away from the GPUs; None when it is."""
    if not gpus_for(load.params, machine):
        return None
    return load.with_params(replace(load.params, device=machine.cpu.name, n_gpu_layers=0))


def _part_of(card: ModelCard, n: int) -> ModelCard:
    """Return a made-up model of an n-th of the size, with the same vocabulary."""
    return replace(
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


def _nothing_fits(target: Load, draft: Load | None, machine: Machine) -> MemoryRemedy:
    """Return the sentence for a target that finds no room, and the closest that would."""
    plans = device_plans(*fit_loads(target, None, machine), machine)
    missing = " and ".join(
        f"{readable_size(device.missing)} of {_named(device, machine)}"
        for device in plans
        if device.missing
    )
    ways, chosen = [], target
    automatic = _with_layers(target, AUTO_LAYERS)
    if automatic.params != target.params and _fitted(automatic, None, machine):
        ways.append(FEWER_LAYERS)
        chosen = automatic
    n_ctx = _longest(target, lambda shorter: _fitted(shorter, None, machine) is not None)
    if n_ctx:
        ways.append(a_context_of(n_ctx))
        chosen = _with_ctx(target, n_ctx) if chosen is target else chosen
    quantised = _quantised(target)
    if quantised and _fitted(quantised, None, machine):
        ways.append(QUANTISED_CACHE)
        chosen = quantised if chosen is target else chosen
    ways.append(SMALLER_MODEL)
    text = (
        f"The target does not fit, even without a draft model; {missing} are missing. "
        f"{choose(ways)} {CLOSE_PROGRAMS}"
    )
    return MemoryRemedy("none", text, chosen.params, draft.params if draft else None)
