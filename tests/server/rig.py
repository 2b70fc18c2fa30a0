"""An endpoint for tests: a server on a free port, and the engine that answers."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from paceline.hosting.threaded import ThreadedClient, make_engine_service
from paceline.messages import LoadPair, PairLoaded
from paceline.params import ReplySettings, SamplingParams
from paceline.server.endpoint import Endpoint
from paceline.server.listener import Listener
from paceline.server.one_pair import OnePair
from paceline.server.served import Current, Defaults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paceline.hosting.client import ServiceFactory

GREEDY = Defaults(ReplySettings(sampling=SamplingParams(temperature=0)))


@contextmanager
def running(
    load: LoadPair,
    *,
    make_service: ServiceFactory = make_engine_service,
    defaults: Defaults = GREEDY,
    key: str = "",
    origins: tuple[str, ...] = (),
    queue: int = 16,
) -> Iterator[Endpoint]:
    """Give an endpoint that answers; it and its engine end with the context."""
    with closing(ThreadedClient(make_service)) as client:
        current = Current()
        client.watch(current.on_engine_event)
        answer = client.request(load).wait(60)
        assert isinstance(answer, PairLoaded), answer
        endpoint = Endpoint(
            client,
            Listener("127.0.0.1", 0),
            lambda desk: OnePair(desk, current, load),
            defaults,
            key=key,
            origins=origins,
            queue=queue,
        )
        endpoint.start()
        try:
            yield endpoint
        finally:
            endpoint.stop(at_once=True)
            assert endpoint.wait(10), "the server does not end"
