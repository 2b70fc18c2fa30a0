"""What a load has taken of each device is told once it is there, and again for a new context."""

from __future__ import annotations

from typing import TYPE_CHECKING

import make_pairs
from paceline.engine.cancel import CancelFlag
from paceline.engine.llama import LlamaBackend
from paceline.engine.service import EngineService
from paceline.messages import DraftModel, LoadPair, ModelParams, PairLoaded
from rpc_servers import rpc_servers

if TYPE_CHECKING:
    from paceline.messages import Event

MIB = 2**20


def test_both_models_are_counted_together_on_each_device() -> None:
    path = str(make_pairs.path("twin-70m"))
    events: list[Event] = []
    service = EngineService(events.append, take_between=lambda: None, cancel=CancelFlag())
    params = ModelParams(path, n_ctx=512, n_gpu_layers=99, device="RPC0,RPC1")
    alone = ModelParams(path, n_ctx=512, n_gpu_layers=99, device="RPC1")
    with rpc_servers(2) as servers:
        endpoints = tuple(server.endpoint for server in servers)
        found = []
        for drafting in (None, DraftModel(alone)):
            service.handle(LoadPair(params, drafting, servers=endpoints))
            loaded = events[-1]
            assert isinstance(loaded, PairLoaded)
            assert [each.device for each in loaded.memory] == ["RPC0", "RPC1", "CPU"]
            found.append({each.device: each for each in loaded.memory})
        service.handle(LoadPair(alone, None, servers=endpoints))
        loaded = events[-1]
        assert isinstance(loaded, PairLoaded)
        whole = {each.device: each for each in loaded.memory}
    assert list(whole) == ["RPC1", "CPU"]
    first, both = found
    assert both["RPC0"] == first["RPC0"]
    assert both["RPC1"].weights == first["RPC1"].weights + whole["RPC1"].weights
    assert both["RPC1"].kv == first["RPC1"].kv + whole["RPC1"].kv
    assert both["RPC1"].compute > first["RPC1"].compute
    shared = first["RPC0"].weights + first["RPC1"].weights
    assert abs(shared - whole["RPC1"].weights) <= 0.05 * MIB


def test_a_context_made_anew_counts_in_the_place_of_the_one_before() -> None:
    params = ModelParams(str(make_pairs.path("twin-70m")), n_ctx=1024, device="CPU")
    load = LlamaBackend().load(params, n_rows=8, cancel=CancelFlag(), progress=lambda _: None)
    (before,) = load.memory
    load.remake(512, 256)
    (after,) = load.memory
    load.close()
    assert after.weights == before.weights
    assert after.kv == before.kv // 2
    assert 0 < after.compute < before.compute
