"""The Hub client against the loopback Hub; nothing of its connections may survive a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hub_server import HubServer, Repository
from paceline.catalog.hub.client import Hub, TokenSource

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DATA = bytes(range(256)) * 12_000  # 3 MB


@pytest.fixture
def repositories() -> dict[str, Repository]:
    found = {
        f"owner/model-{i}-GGUF": Repository(
            f"owner/model-{i}-GGUF",
            {f"model-{i}-Q4_K_M.gguf": b"GGUF" + DATA},
            {
                "downloads": 10 * i,
                "likes": 100 - i,
                "trendingScore": i % 3,
                "license": "mit" if i % 2 else "apache-2.0",
                "base_model": f"owner/model-{i}",
                "lastModified": f"2026-01-{i + 1:02}T00:00:00.000Z",
                "gguf": {
                    "total": i * 10**9,
                    "architecture": "qwen2" if i % 2 else "llama",
                    "context_length": 4096,
                },
            },
        )
        for i in range(7)
    }
    found["other/gated"] = Repository(
        "other/gated", {"gated-Q8_0.gguf": b"GGUF" + DATA}, {"gated": "manual"}
    )
    return found


@pytest.fixture
def server(repositories: dict[str, Repository]) -> Iterator[HubServer]:
    with HubServer(repositories, page_size=3) as running:
        yield running
    from huggingface_hub.utils import close_session

    close_session()


@pytest.fixture
def tokens(tmp_path: Path) -> TokenSource:
    """No token, wherever one may lie on this computer."""
    return TokenSource({"HF_HOME": str(tmp_path / "hf")})


@pytest.fixture
def hub(server: HubServer, tokens: TokenSource) -> Hub:
    return Hub(endpoint=server.endpoint, tokens=tokens)


@pytest.fixture
def hub_with_token(server: HubServer) -> Hub:
    """A Hub client with a token that gives access to other/gated."""
    server.tokens["hf_secret"] = {"other/gated"}
    return Hub(endpoint=server.endpoint, tokens=TokenSource({"HF_TOKEN": "hf_secret"}))
