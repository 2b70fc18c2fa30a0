"""Limits of what other programs may ask for; the guide lists these numbers."""

from __future__ import annotations

MAX_BODY_BYTES = 32 << 20
"""Bytes of a request's body."""
MAX_HEAD_BYTES = 32 << 10
"""Bytes of a request's line and headers together."""
MAX_HEADERS = 100
MAX_DEPTH = 100
"""Levels of lists and objects in a body."""
MAX_CONNECTIONS = 256
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
MAX_MESSAGES = 10_000
MAX_STOPS = 32
MAX_STOP_CHARS = 1_000
"""Characters of a stop text."""
MAX_BIASES = 1_000
MAX_TOP_LOGPROBS = 20
"""Upper bound of `top_logprobs`."""
MAX_REPLIES = 8
"""Upper bound of `n`."""
MAX_FILES = 1_000
"""Files in `input_extra`, at most."""
MAX_PROMPTS = 64
"""Prompts in the list of one request, at most."""
MAX_TOOLS = 128
KEEP_ALIVE_EVERY_S = 10.0
"""Seconds of silence after which a stream gets a comment, so that it is not taken for dead."""
MAX_WAIT_FOR_START_S = 2.0
"""Seconds for which a streamed reply waits for its beginning, so that a prompt that is refused is
an error with a status, before it answers 200 and begins with a comment."""
