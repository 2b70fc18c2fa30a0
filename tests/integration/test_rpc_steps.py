"""Steps of a real model whose layers are on an RPC server: which of them tell what steps take."""

from __future__ import annotations

from pathlib import Path

from integration.engine import Engine
from paceline.engine.llama.model import LlamaModel
from rpc_servers import rpc_servers


def test_each_width_has_one_first_decode_of_a_load(demo_pair: tuple[Path, Path]) -> None:
    with (
        rpc_servers() as (server,),
        Engine(demo_pair[0], n_gpu_layers=99, servers=(server.endpoint,)) as engine,
    ):
        model = engine.pair.target.model
        assert isinstance(model, LlamaModel)
        assert not model.computes_here
        seen = []
        for width in (5, 5, 6, 5, 6, 150, 160, 150):
            before = model.n_firsts
            model.decode([5] * width, min(width, 2))
            seen.append(model.n_firsts - before)
    assert seen == [1, 0, 1, 0, 0, 1, 0, 0]
