"""A real model whose layers are on an RPC server: its devices, and the times of its steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from integration.engine import Engine
from paceline.engine.llama import devices
from paceline.engine.llama.model import LlamaModel
from paceline.engine.model.rpc_servers import RpcServerError, ask_server
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


def test_a_server_that_has_fewer_devices_than_it_said_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with rpc_servers() as (server,):
        answer = ask_server(server.endpoint)
        told = replace(answer, memory=answer.memory * 2)
        monkeypatch.setattr(devices, "ask_servers", lambda _servers: [told])
        found = devices.Devices()
        found.connect([server.endpoint])
        first, second = (each for each in found.all() if each.info.server)
        assert first.pointer
        with pytest.raises(RpcServerError, match="has fewer devices now") as raised:
            second.pointer  # noqa: B018
    assert [problem.server for problem in raised.value.problems] == [server.endpoint]
