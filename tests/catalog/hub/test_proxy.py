"""A proxy of the user's own: every request goes by it, and none without it."""

from __future__ import annotations

import pytest

from hub_server import HubServer
from paceline.catalog.hub.client import Hub, TokenSource
from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.values import SearchQuery
from paceline.settings import can_be_proxy
from proxy import Proxy

REPO, FILE = "owner/model-1-GGUF", "model-1-Q4_K_M.gguf"


def use(hub: Hub) -> None:
    """Make every kind of request, and see that it is answered."""
    assert list(hub.search(SearchQuery()))
    assert hub.repository(REPO).choices
    location = hub.locate(REPO, FILE)
    with hub.open(location, 0, 1000) as body:
        assert len(b"".join(body)) == 1000


def test_every_request_goes_by_the_proxy(server: HubServer, tokens: TokenSource) -> None:
    with Proxy() as proxy, Proxy() as other:
        hub = Hub(endpoint=server.endpoint, proxy=proxy.address, tokens=tokens)
        use(hub)
        assert len(proxy.asked) == len(server.requests) > 4
        assert {request.host for request in server.requests} == {"hub", "cdn"}
        hub.proxy = other.address
        n_before = len(server.requests)
        use(hub)
        assert len(other.asked) == len(server.requests) - n_before
        hub.proxy = ""
        use(hub)
        assert len(proxy.asked) + len(other.asked) == len(server.requests) * 2 // 3


def test_a_proxy_that_is_not_there(server: HubServer, tokens: TokenSource) -> None:
    with Proxy() as proxy:
        pass
    hub = Hub(endpoint=server.endpoint, proxy=proxy.address, tokens=tokens)
    with pytest.raises(HubError) as caught:
        hub.repository(REPO)
    assert "proxy" in caught.value.hint
    assert server.requests == [], "nothing goes without it"


def test_a_proxy_that_needs_a_package_which_is_missing(
    server: HubServer, tokens: TokenSource
) -> None:
    hub = Hub(endpoint=server.endpoint, proxy="socks5://me:hidden@127.0.0.1:9", tokens=tokens)
    with pytest.raises(HubError) as caught:
        hub.repository(REPO)
    assert caught.value.code == "bad-proxy"
    assert "SOCKS" in caught.value.message
    assert "hidden" not in str(caught.value)
    assert server.requests == []


@pytest.mark.parametrize(
    "text",
    ["", "http://127.0.0.1:3128", "https://proxy.example:443/", "socks5://me:secret@host:1080"],
)
def test_addresses_of_proxies(text: str) -> None:
    assert can_be_proxy(text)


@pytest.mark.parametrize(
    "text",
    ["proxy:3128", "127.0.0.1:3128", "ftp://proxy:21", "http://proxy", "http://:3128",
     "http://proxy:99999", "http://proxy:3128/path", "http://proxy:31 28", "http://[::1:80",
     "http://proxy:3128?a", "http://prüfung:3128"],
)  # fmt: skip
def test_what_is_no_address_of_a_proxy(text: str) -> None:
    assert not can_be_proxy(text)
