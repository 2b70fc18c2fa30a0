"""Limits of other programs' requests; the guide lists these numbers."""

from __future__ import annotations

MAX_BODY_BYTES = 32 << 20
"""Upper bound of a request's body in bytes."""
MAX_HEAD_BYTES = 32 << 10
"""Upper bound of a request's line and headers together, in bytes."""
MAX_HEADERS = 100
MAX_DEPTH = 100
"""Upper bound of the nesting of lists and objects in a body."""
MAX_CONNECTIONS = 256
HEAD_S = 10.0
"""Time limit for a request's headers."""
BODY_S = 60.0
"""Time limit for a request's body."""
IDLE_S = 75
"""Seconds that a connection stays open without a request."""
REFUSED_BODY_S = 5.0
"""Time limit for the rest of a body whose request has been refused."""
STALLED_S = 30.0
"""Seconds after which a connection ends whose program does not read the response."""
MAX_MESSAGES = 10_000
MAX_STOPS = 32
MAX_STOP_CHARS = 1_000
"""Upper bound of the characters of a stop text."""
MAX_BIASES = 1_000
MAX_TOP_LOGPROBS = 20
"""Upper bound of `top_logprobs`."""
MAX_REPLIES = 8
"""Upper bound of `n`."""
MAX_FILES = 1_000
"""Upper bound of the files in `input_extra`."""
MAX_PROMPTS = 64
"""Upper bound of the prompts of one request."""
MAX_TOOLS = 128
KEEP_ALIVE_EVERY_S = 10.0
"""Seconds of silence after which a stream gets a comment, so that it is not taken for dead."""
MAX_WAIT_FOR_START_S = 2.0
"""Upper bound of the seconds that a streamed reply waits for its first event, so that a refused
prompt is an error with a status; after that it answers 200 and begins with a comment."""
