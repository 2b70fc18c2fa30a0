"""Loads with layers on RPC servers: whose kernels compute what, and what measured facts are of."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.engine import Engine
from paceline.messages import KernelWish, PairLoaded
from rpc_servers import rpc_servers


def notes(engine: Engine) -> str:
    with engine:
        assert isinstance(engine.loaded, PairLoaded)
        return " ".join(engine.loaded.notes)


def test_a_load_says_which_layers_own_kernels_compute(target_path: Path, tmp_path: Path) -> None:
    """None where devices have all of them, or llama.cpp's kernels compute on the processor, too."""
    told = {}
    with rpc_servers() as (server,):
        cases: list[tuple[KernelWish, int]] = [("auto", 3), ("auto", 99), ("stock", 3)]
        for kernels, n_gpu_layers in cases:
            engine = Engine(
                target_path,
                n_gpu_layers=n_gpu_layers,
                kernels=kernels,
                servers=(server.endpoint,),
            )
            told[kernels, n_gpu_layers] = notes(engine)
            if kernels == "auto" and not engine.loaded.target.kernels and n_gpu_layers == 3:  # type: ignore[union-attr]
                pytest.skip("there are no own kernels here")
            n_layers = engine.loaded.target.n_layers  # type: ignore[union-attr]
    share = f"the {n_layers - 2} of {n_layers} layers that stay on the processor"
    assert share in told["auto", 3]
    assert "computed by RPC0." in told["auto", 3]
    assert "of the" not in told["auto", 99]
    assert "on the processor" not in told["auto", 99]
    assert "on the processor" not in told["stock", 3]


def test_measured_facts_are_of_a_set_of_devices(target_path: Path) -> None:
    keys = []
    with rpc_servers(2) as servers:
        one, two = (server.endpoint for server in servers)
        for used, split in (
            ((), ()), ((one,), ()), ((two,), ()), ((one, two), ()), ((two, one), ()),
            ((one, two), (1.0, 3.0)), ((one,), ()),
        ):  # fmt: skip
            with Engine(target_path, servers=used, tensor_split=split) as engine:
                keys.append(engine.pair.target.model.facts_key)
    assert keys[1] == keys[-1]
    assert len(set(keys)) == len(keys) - 1
