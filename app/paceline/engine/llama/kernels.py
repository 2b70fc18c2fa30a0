"""Paceline's own kernels for the CPU: search, test, and activation for the next loads.

`app/kernels` has their source and describes what they compute. They are a shared library that
replaces ggml's kernels in the whole process, compiled for one build of ggml (`kernel_files`). So
none is used before it has passed its test on this processor (`kernel_library`), and one that ends
the engine leaves a mark and is not used again (`own_kernels`). Called on the engine's thread, while
no model decodes.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from paceline.engine.cancel import CancelFlag
from paceline.engine.facts import Facts
from paceline.engine.llama.gguf import all_tensors
from paceline.engine.llama.kernel_library import CannotProveError, KernelLibrary, prove, type_name
from paceline.engine.llama.repacking import multiplied
from paceline.engine.model.own_kernels import (
    PROVED,
    NoKernelsError,
    check_mark,
    fact_name,
    find_library,
    isa_fact,
    key_of,
    known_outcomes,
    mark_path,
)
from paceline.figures import KernelUse
from paceline.files import private_folder
from paceline.installation import kernel_files, remedies
from paceline.params import KernelWish
from paceline.sentence import Sentence, joined, made, sentence


class OwnKernels:
    """The own kernels of one backend.

    Attributes:
        key: Key of the active build; empty if none is active. Any thread may read it.
        fact: Key on which measured facts depend; empty if llama.cpp's kernels compute.
    """

    def __init__(self) -> None:
        self.key = ""
        self.fact = ""
        self._library: KernelLibrary | None = None
        self._mask = 0

    def choose(
        self, wish: KernelWish, facts: Facts, cache_dir: str, cancel: CancelFlag
    ) -> tuple[str, ...]:
        """Activate or deactivate kernels for the models that are loaded next.

        Args:
            wish: The wanted kernels.
            facts: Facts that store test outcomes.
            cache_dir: Folder for the mark of a crash; empty to leave none.
            cancel: Flag that ends a long test.

        Returns:
            Notes for the user.

        Raises:
            NoKernelsError: Own kernels are required, but cannot be used.
            CancelledError: The flag was set.
        """
        self._switch_off()
        if wish == "stock":
            return ()
        try:
            return self._switch_on(facts, cache_dir, cancel)
        except NoKernelsError as error:
            if wish == "own":
                raise
            if not kernel_files.is_possible():  # the user could do nothing about it
                return ()
            note = sentence(
                "Paceline's own CPU kernels cannot be used: {why}; llama.cpp's compute.",
                why=error.why,
            )
            return (joined([note, error.hint]),)

    def _switch_off(self) -> None:
        for library in _libraries().values():  # including other backends in this process
            library.enable(0)
            library.mark_crashes(None)
        self.key = self.fact = ""
        self._mask = 0

    def _switch_on(self, facts: Facts, cache_dir: str, cancel: CancelFlag) -> tuple[str, ...]:
        path = find_library(cache_dir)
        key = key_of(path)
        check_mark(cache_dir, key)
        library = self._library = _libraries().get(path) or KernelLibrary(path)
        _libraries()[path] = library
        outcomes = proved(library, path, key, facts, cancel)
        again = remedies.kernels_tested_again(facts.path)
        mask = mask_of(library, outcomes, again)
        if not library.install():
            raise NoKernelsError(
                "this build of llama.cpp does not take them", remedies.kernels_built()
            )
        library.enable(mask)
        mark = mark_path(cache_dir, key)
        if mark is not None:
            try:
                private_folder(mark.parent)
            except OSError:
                mark = None  # then a crash is not recorded
        library.mark_crashes(mark)
        self._mask, self.key = mask, key
        self.fact = f"kernels-{key}-{mask:x}"
        return proof_notes(outcomes, again)

    def called(self) -> frozenset[tuple[str, bool]]:
        """Return what own kernels have computed since the last call: types, and whether attention.

        So it is measured, and not inferred, which of a model's nodes they computed.
        """
        if self._library is None or not self.key:
            return frozenset()
        bits = self._library.called() & self._mask
        found = (k for i, k in enumerate(self._library.kernels) if bits >> i & 1)
        return frozenset((kernel.kind, kernel.is_attention) for kernel in found)


def uses_of(path: Path, called: frozenset[tuple[str, bool]]) -> tuple[KernelUse, ...]:
    """Return which kernels compute with a model's weights, the type with the most bytes first.

    Args:
        path: Path of the model; for a split one, of its first part.
        called: Result of `OwnKernels.called` after decodes of several widths.
    """
    n_bytes: dict[str, int] = {}
    for tensor in multiplied(all_tensors(path)):
        if len(tensor.shape) > 1:
            name = type_name(tensor.kind)
            n_bytes[name] = n_bytes.get(name, 0) + tensor.n_bytes
    kinds = sorted(n_bytes, key=lambda kind: -n_bytes[kind])
    weights = {kind for kind, is_attention in called if not is_attention}
    attention = any(is_attention for _, is_attention in called)
    return (
        *(KernelUse(kind, "own" if kind in weights else "stock") for kind in kinds),
        KernelUse("attention", "own" if attention else "stock"),
    )


def proved(
    library: KernelLibrary, path: Path, key: str, facts: Facts, cancel: CancelFlag
) -> dict[str, str]:
    """Return the test outcome of every kernel; tests those without one.

    Outcomes are stored in the facts, and for this process, so that it tests each kernel only once
    even without a folder for facts.

    Returns:
        Outcomes by name: "proved" is the only good one. Kernels that were not reached in time are
        missing, and are tested next time.

    Raises:
        NoKernelsError: The processor lacks instructions, or the process cannot be started.
        CancelledError: The flag was set.
    """
    if not library.isa:
        raise NoKernelsError(
            "this processor, or this build of llama.cpp, lacks instructions that they need"
        )
    here = _facts_of_process()
    outcomes = {**known_outcomes(here, key), **known_outcomes(facts, key)}
    missing = [kernel.name for kernel in library.kernels if kernel.name not in outcomes]
    if missing:
        facts.put(isa_fact(key), library.isa)
    try:
        for name, outcome in prove(path, missing, cancel):
            outcomes[name] = outcome
            for keeper in (facts, here):
                keeper.put(fact_name(key, name), outcome)
    except CannotProveError as error:
        raise NoKernelsError("their test cannot be run ({error})", error=error) from None
    return outcomes


def mask_of(library: KernelLibrary, outcomes: Mapping[str, str], again: Sentence) -> int:
    """Return the bits of the kernels that may be used.

    A model may have weights of a type in both layouts, the file's and ggml's, but is described by
    its types only. So all kernels of a type are used, or none.

    Raises:
        NoKernelsError: No kernel may be used.
    """
    unproved = {
        (kernel.kind, kernel.is_attention)
        for kernel in library.kernels
        if outcomes.get(kernel.name) != PROVED
    }
    mask = sum(
        1 << i
        for i, kernel in enumerate(library.kernels)
        if (kernel.kind, kernel.is_attention) not in unproved
    )
    if not mask:
        raise NoKernelsError("none of them has passed its test on this processor", again)
    return mask


def proof_notes(outcomes: Mapping[str, str], again: Sentence) -> tuple[str, ...]:
    """Return notes for the user about kernels that are not used; usually none.

    Kernels that were not tested in time are not mentioned: the next load tests them.
    """
    refused = [
        sentence("{name} ({why})", name=name, why=made(why, {}))
        for name, why in outcomes.items()
        if why != PROVED
    ]
    if not refused:
        return ()
    return (
        sentence(
            "Paceline's own CPU kernels that failed their test here are left out: "
            "{refused}. {again}",
            refused=joined(refused, ", "),
            again=again,
        ),
    )


@functools.cache
def _facts_of_process() -> Facts:
    return Facts("")


@functools.cache
def _libraries() -> dict[Path, KernelLibrary]:
    """Return the libraries that this process has loaded, by path."""
    return {}
