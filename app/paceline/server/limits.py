"""Limits of what other programs may ask for; the guide lists these numbers."""

from __future__ import annotations

LARGEST_BODY = 32 << 20
"""Bytes of a request's body."""
LARGEST_HEAD = 32 << 10
"""Bytes of a request's line and headers together."""
MOST_HEADERS = 100
DEEPEST = 100
"""Levels of lists and objects in a body."""
MOST_CONNECTIONS = 256
HEAD_S = 10.0
"""Seconds in which a connection has to bring a request's headers."""
BODY_S = 60.0
"""Seconds in which a request's body has to come."""
IDLE_S = 75
"""Seconds that a connection stays open without a request."""
REST_S = 5.0
"""Seconds in which the rest of a body has to come whose request has been refused."""
STALLED_S = 30.0
"""Seconds after which a connection ends whose program reads nothing of what is sent to it."""
MOST_MESSAGES = 10_000
MOST_STOPS = 32
LONGEST_STOP = 1_000
"""Characters of a stop text."""
MOST_BIASES = 1_000
MOST_LIKELY = 20
"""Upper bound of `top_logprobs`."""
MOST_REPLIES = 8
"""Upper bound of `n`."""
MOST_FILES = 1_000
"""Files in `input_extra`, at most."""
MOST_PROMPTS = 64
"""Prompts in the list of one request, at most."""
MOST_TOOLS = 128
ALIVE_S = 10.0
"""Seconds of silence after which a stream gets a comment, so that it is not taken for dead."""
PATIENCE_S = 2.0
"""Seconds for which a streamed reply waits for its beginning, so that a prompt that is refused is
an error with a status, before it answers 200 and begins with a comment."""
