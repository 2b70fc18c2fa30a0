"""The options that choose, place and load the two models, and the `ModelParams` made from them.

Experts are placed, and weights repacked, per model. How GPUs share the work is given once and holds
for both models, as in llama.cpp, whose draft model takes over the target's split.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import Literal

from msgspec import structs

from paceline.catalog.hub.values import is_reference, parse_reference
from paceline.cli.parameter_options import add_parameters, given, read_by, written
from paceline.cli.usage import Parser, UsageError
from paceline.engine.draft.heads import head_kind, head_title, usable_heads
from paceline.engine.model.memory_hints import SLOW_CACHE
from paceline.engine.model.rpc_servers import read_server
from paceline.errors import UserError
from paceline.messages import KernelWish, LoadPair, ModelParams, StateStorage
from paceline.parameters import Parameter, parameters_of
from paceline.params import (
    AUTO,
    DRAFT,
    MTP,
    OFF,
    OWN_HEAD,
    Drafting,
    DraftModel,
    TargetHead,
    drafter_of,
    file_of,
)
from paceline.paths import Paths, demo_pair
from paceline.settings import KERNELS_VARIABLE, kernels_of_environment
from paceline.sizes import read_size

_SEE_THERE = "What a quantised one costs, --kv-type-k says."
_LOADING = tuple(parameters_of(ModelParams).values())
_DRAFT = "_draft"
USUAL_STATES = "4GB, and no more than a tenth of what is free there"
"""Disk space for stored states without an option."""


def _is_shared(parameter: Parameter) -> bool:
    """Return whether one option holds for both models."""
    option = parameter.option
    return option is not None and "{}" not in option.name + option.flag


def add_options(parser: Parser) -> None:
    """Add the groups "models" and "hardware"."""
    models = parser.add_argument_group("models")
    models.add_argument(
        "--target",
        metavar="FILE",
        help="GGUF file of the model that decides the text, or hf:OWNER/REPO:FILE or its address "
        "on the Hub, which is downloaded if it is not here (default: the built-in demo pair)",
    )
    models.add_argument(
        "--draft",
        metavar="FILE",
        help="GGUF file of the small model that drafts, or hf:OWNER/REPO:FILE; when only --target "
        "is given there is no draft model",
    )
    add_heads(models)
    hardware = parser.add_argument_group("hardware")
    add_hardware(hardware)
    add_servers(hardware)
    add_kernels(hardware)


def add_heads(group: argparse._ActionsContainer) -> None:
    """Add the options that choose the head that drafts, one for each kind."""
    for kind in usable_heads():
        if kind.id == MTP:
            group.add_argument(
                f"--{kind.id}",
                metavar="auto|off|FILE",
                default=AUTO,
                help=f"{kind.title} that drafts in place of a draft model: auto, the one inside "
                "the target's file where it has one and no draft model is given; off, none; or the "
                "file with the head, or hf:OWNER/REPO:FILE (default: %(default)s)",
            )
        else:
            group.add_argument(
                f"--{kind.id}",
                metavar="FILE",
                help=f"file with the {kind.title} that drafts in place of a draft model, or "
                "hf:OWNER/REPO:FILE",
            )


def add_hardware(group: argparse._ArgumentGroup) -> None:
    """Add the options that say how the two models are loaded."""
    for is_shared, parameters in groupby(_LOADING, key=_is_shared):
        parts = list(parameters)
        add_parameters(group, parts, suffix="", whose="the target", cost=SLOW_CACHE)
        if not is_shared:
            add_parameters(group, parts, _DRAFT, whose="the draft model", cost=_SEE_THERE)


def add_servers(group: argparse._ActionsContainer) -> None:
    """Add the option that names RPC servers; see `read_servers`."""
    group.add_argument(
        "--rpc",
        metavar="HOST:PORT",
        type=read_by(read_server),
        action="append",
        default=[],
        help="use the devices of this RPC server, too, which `paceline rpc-server` starts on "
        "another computer; they are called RPC0, RPC1 and so on; can be given several times",
    )


def add_kernels(group: argparse._ActionsContainer) -> None:
    """Add the option that chooses the kernels of the CPU."""
    group.add_argument(
        "--kernels",
        choices=("own", "stock"),
        help="whose kernels compute on the CPU: own, Paceline's, or the command fails where they "
        "cannot be used; stock, llama.cpp's, whose text can be another one in near-ties (default: "
        f"what the variable {KERNELS_VARIABLE} says, else Paceline's as far as they are proved "
        "here)",
    )


def add_state_cache(group: argparse._ActionsContainer, default: str) -> None:
    """Add the option for the size of the prompt cache.

    Args:
        group: The group of options.
        default: The default in words.
    """
    group.add_argument(
        "--state-cache",
        metavar="SIZE|off",
        type=_state_cache,
        help="how much disk the states of models may take, all together, after prompts that they "
        "have read, so that these need not be read again: a size such as 8GB, 0 for memory alone, "
        f"or off (default: {default})",
    )


def _state_cache(text: str) -> int | Literal["off"]:
    if text == OFF:
        return "off"
    size = read_size(text)
    if size is None:
        raise argparse.ArgumentTypeError(f"{text!r:.60} is neither a size such as 8GB nor off")
    return size


def add_host(group: argparse._ArgumentGroup) -> None:
    """Add the option that says where the engine runs."""
    group.add_argument(
        "--host",
        choices=("inline", "process"),
        help="where the engine runs: inline, within this program, or process, in a process of its "
        "own, so that a crash of the engine is reported and does not end the program "
        "(default: inline, with --rpc process)",
    )


# ------------------------------------------------------------------------------------------ reading


def read_pair(args: argparse.Namespace, folders: Paths) -> tuple[LoadPair, tuple[str, ...]]:
    """Return the load that the options ask for, and sentences about options without an effect.

    Raises:
        UsageError: A name that cannot be a file, or two drafters.
        ValueOutOfRangeError: A variable with a value that it cannot have.
        UserError: The demo pair is not there.
    """
    kernels = read_kernels(args)
    for option, name in (("--target", args.target), ("--draft", args.draft)):
        check_name(option, name)
    target, draft = args.target, args.draft
    drafting: Drafting = read_head(args)
    if target is None:
        demo_target, demo_draft = demo_pair()
        target = str(demo_target)
        draft = str(demo_draft) if draft is None and not file_of(drafting) else draft
    if draft is not None:
        drafting = DraftModel(read_params(draft, args, _DRAFT))
    load = LoadPair(
        read_params(target, args, ""),
        drafting,
        cache_dir=str(folders.cache_dir),
        kernels=kernels,
        servers=read_servers(args),
    )
    return load, () if draft is not None else tuple(_notes_without_draft(args))


def read_head(args: argparse.Namespace) -> TargetHead | None:
    """Return the head that the options ask for.

    Raises:
        UsageError: A name that cannot be a file, or another drafter beside a head's file.
    """
    inside: TargetHead | None = OWN_HEAD
    found: TargetHead | None = None
    for kind in usable_heads():
        text: str | None = getattr(args, kind.id.replace("-", "_"))
        if text is None or (kind.id == MTP and text in (AUTO, OFF)):
            inside = None if text == OFF else inside
            continue
        check_name(f"--{kind.id}", text)
        if args.draft is not None or found is not None:
            first = "A draft model" if found is None else f"The file of an {head_title(found.kind)}"
            raise UsageError(
                "usage",
                f"{first} and the file of an {kind.title} are given, and one of them can draft.",
                "Leave one of them out.",
            )
        path = _absolute(text)
        is_inside = args.target is not None and path == _absolute(args.target)
        found = TargetHead(kind.id, "" if is_inside else path)
    return found or inside


def settle(
    load: LoadPair,
    args: argparse.Namespace,
    strategies: Iterable[str],
    has_head: Callable[[], bool],
) -> LoadPair:
    """Return the load without a drafter that no strategy uses, unless it was requested.

    Args:
        load: From `read_pair`.
        args: The options.
        strategies: The strategies in use.
        has_head: Called if a strategy needs a head; see `loading.head_finder`.

    Raises:
        UsageError: A strategy needs a drafter that is not there.
    """
    from paceline.engine.draft.strategy import parse_strategy

    is_used = False
    for strategy in strategies:
        parsed = parse_strategy(strategy)
        is_used = is_used or parsed.uses_model
        if parsed.needs == DRAFT and not isinstance(load.drafting, DraftModel):
            raise UsageError(
                "no-draft-model",
                f"The strategy {strategy} needs a draft model.",
                "Give one by --draft FILE, or choose another strategy.",
            )
        kind = head_kind(parsed.needs)
        if kind is not None and not (drafter_of(load.drafting) == kind.id and has_head()):
            raise UsageError(
                f"no-{kind.id}-head",
                f"The strategy {strategy} needs an {kind.title}.",
                f"Give a target that has one inside, or the file of its head by --{kind.id} FILE, "
                "and no draft model; or choose another strategy.",
            )
    is_head_file = isinstance(load.drafting, TargetHead) and bool(load.drafting.file)
    if is_used or args.draft is not None or is_head_file:
        return load
    return structs.replace(load, drafting=None)


def check_name(option: str, name: str | None) -> None:
    """Refuse what can be neither a path nor a reference to the Hub.

    Raises:
        UsageError: It is neither.
    """
    if name is None:
        return
    if not name.strip():
        raise UsageError("usage", f"{option} is empty.", "Give the path of a GGUF file.")
    if is_reference(name):
        try:
            parse_reference(name)
        except UserError as error:
            raise UsageError(error.code, error.message, error.hint) from None


def read_params(path: str, args: argparse.Namespace, suffix: str) -> ModelParams:
    """Return the parameters of a model.

    Args:
        path: A path, or a reference to the Hub.
        args: With the options of `add_hardware`.
        suffix: Whose options count: empty for the target's, or ``_draft``.
    """
    per_model = [each for each in _LOADING if not _is_shared(each)]
    shared = [each for each in _LOADING if _is_shared(each)]
    return ModelParams(_absolute(path), **given(args, per_model, suffix), **given(args, shared))


def _absolute(path: str) -> str:
    return str(parse_reference(path) if is_reference(path) else Path(path).absolute())


def read_servers(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the RPC servers whose devices may be used, as HOST:PORT.

    Raises:
        UsageError: One is named twice; it serves one program at a time, once.
    """
    servers: list[str] = args.rpc
    for i, server in enumerate(servers):
        if server in servers[:i]:
            raise UsageError(
                "usage", f"The RPC server {server} is named twice.", "Name each server once."
            )
    return tuple(servers)


def runs_in_process(args: argparse.Namespace) -> bool:
    """Return whether the engine runs in a process of its own, as `add_host` lets choose.

    Raises:
        UsageError: With RPC servers it is to run within this program.
    """
    if args.host == "inline" and args.rpc:
        raise UsageError(
            "usage",
            "--host inline and --rpc are given, but llama.cpp ends the whole program where an RPC "
            "server is lost.",
            "Leave --host out: with --rpc the engine has a process of its own.",
        )
    return args.host == "process" or bool(args.rpc)


def read_kernels(args: argparse.Namespace) -> KernelWish:
    """Return the kernels that the option asks for, or without it the variable.

    Raises:
        ValueOutOfRangeError: The variable has a value that it cannot have.
    """
    if args.kernels is not None:
        wish: KernelWish = args.kernels
        return wish
    return kernels_of_environment(os.environ)


def read_states(args: argparse.Namespace, folders: Paths, *, is_on: bool) -> StateStorage | None:
    """Return the storage of the prompt cache, or None if there is none.

    Args:
        args: The options.
        folders: The program's folders.
        is_on: Whether it is on without the option.
    """
    size = args.state_cache
    if size == OFF or (size is None and not is_on):
        return None
    if size == 0:
        return StateStorage()
    return StateStorage(folder=str(folders.states_dir), disk_bytes=-1 if size is None else size)


def _notes_without_draft(args: argparse.Namespace) -> list[str]:
    parameters = {each.name: each for each in _LOADING if not _is_shared(each)}
    return [
        f"{written(parameters[name], value, _DRAFT)} has no effect without a draft model."
        for name, value in given(args, parameters.values(), _DRAFT).items()
    ]
