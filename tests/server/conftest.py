"""The demo pair at an endpoint, and clients of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import openai
import pytest

from paceline.messages import LoadPair, ModelParams
from paceline.params import DraftModel
from server.rig import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from paceline.server.endpoint import Endpoint


@pytest.fixture(scope="session")
def demo_load(demo_pair: tuple[Path, Path]) -> LoadPair:
    """The load of the demo pair, with one thread."""
    target, draft = (
        ModelParams(str(path), n_ctx=2048, n_threads=1, n_threads_batch=1, n_gpu_layers=0)
        for path in demo_pair
    )
    return LoadPair(target, DraftModel(draft))


@pytest.fixture(scope="module")
def endpoint(demo_load: LoadPair) -> Iterator[Endpoint]:
    """The demo pair, greedy unless a request says something else."""
    with running(demo_load) as endpoint:
        yield endpoint


@pytest.fixture
def client(endpoint: Endpoint) -> Iterator[openai.OpenAI]:
    """OpenAI's client of that endpoint."""
    with openai.OpenAI(base_url=f"{endpoint.url}/v1", api_key="none", max_retries=0) as client:
        yield client
