"""Nonsense that a broken process may send in place of messages.

Two sorts. `FRAMES`: payloads of whole frames, none of which is a message from the engine.
`STREAMS`: bytes of which not even frames can be cut.
"""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable, Iterator
from typing import Any

from message_samples import COMMANDS, EVENTS, sample
from paceline.hosting.wire import Beat, Done, LogLine, encode_message
from paceline.workers.frames import MAX_FRAME, OWN, frame

Make = Callable[[random.Random], bytes]

REPORTS = (Done(), Beat(1, 1.5, 9, 0.5, 10.0), LogLine(30, "paceline", "x"))
SOUND = [encode_message(sample(cls)) for cls in EVENTS] + [encode_message(r) for r in REPORTS]


def _random_bytes(rng: random.Random) -> bytes:
    return b"\xfe" + rng.randbytes(rng.randrange(400))  # no UTF-8 begins like this


def _any_json(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind < 6:
        return [None, True, rng.randrange(-(2**70), 2**70), rng.random() * 1e300, "ä\n", ""][kind]
    items = [_any_json(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 6:
        return items
    return {rng.choice(["type", "turn_id", "tokens", "x", ""]): item for item in items}


def _random_json(rng: random.Random) -> bytes:
    return json.dumps(_any_json(rng)).encode()


def _wrong_types(rng: random.Random) -> bytes:
    data = json.loads(rng.choice([p for p in SOUND if b"," in p]))
    name = rng.choice([key for key in data if key != "type"])
    data[name] = {"not": ["this", _any_json(rng)]}
    return json.dumps(data).encode()


def _left_out(rng: random.Random) -> bytes:
    """The first field is missing, which all messages need."""
    data = json.loads(rng.choice([p for p in SOUND if b"," in p]))
    del data[next(key for key in data if key != "type")]
    return json.dumps(data).encode()


def _unknown_field(rng: random.Random) -> bytes:
    name = "x" * rng.choice([1, 30, 20_000])
    return json.dumps({**json.loads(rng.choice(SOUND)), name: 1}).encode()


def _cut(rng: random.Random) -> bytes:
    payload = rng.choice(SOUND)
    return payload[: rng.randrange(1, len(payload))]


def _unknown_type(rng: random.Random) -> bytes:
    name: Any = rng.choice(["", "Donne", "done", "object", 7, None, ["Done"], {"Done": 1}])
    return json.dumps({"type": name, "text": "x"}).encode()


def _long_type(rng: random.Random) -> bytes:
    return json.dumps({"type": "x" * rng.randrange(10**4, 10**5)}).encode()


def _command(rng: random.Random) -> bytes:
    return encode_message(sample(rng.choice(COMMANDS)))


def _lone_surrogate(rng: random.Random) -> bytes:
    escaped = b'{"type":"LogLine","level":7,"logger":"x","text":"\\ud800"}'
    return rng.choice([escaped, b'{"type":"LogLine","level":7,"logger":"x","text":"\xed\xa0\x80"}'])


def _huge_number(rng: random.Random) -> bytes:
    digits = b"1" + b"0" * rng.choice([4300, 10_000, 50_000])
    return b'{"type":"LogLine","logger":"x","text":"x","level":' + digits + b"}"


def _no_number(rng: random.Random) -> bytes:
    number = rng.choice([b"NaN", b"Infinity", b"-Infinity", b"1e999"])
    return b'{"type":"LogLine","logger":"x","text":"x","level":' + number + b"}"


def _deep(rng: random.Random) -> bytes:
    depth = rng.choice([rng.randrange(1, 400), rng.randrange(400, 2000), 100_000])
    nest = rng.choice([b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth])
    logged = b'{"type":"LogLine","logger":"x","text":"x","level":%s}'
    shape = rng.choice([b"%s", b'{"type":%s}', logged])
    return shape % nest


def _own_word(rng: random.Random) -> bytes:
    return OWN + rng.choice([b"", b"ready", b"read", b"dying", bytes(rng.randrange(400))])


FRAMES: dict[str, Make] = {
    "word of its own": _own_word,
    "random bytes": _random_bytes,
    "random JSON": _random_json,
    "wrong types": _wrong_types,
    "a field left out": _left_out,
    "unknown field": _unknown_field,
    "cut": _cut,
    "unknown type": _unknown_type,
    "long type": _long_type,
    "command": _command,
    "lone surrogate": _lone_surrogate,
    "huge number": _huge_number,
    "no number": _no_number,
    "deep nesting": _deep,
}


def mutated(rng: random.Random) -> bytes:
    """Return a sound payload with a few bytes changed, which may by chance still be a message."""
    payload = bytearray(rng.choice(SOUND))
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(payload))
        match rng.randrange(3):
            case 0:
                payload[place] = rng.randrange(256)
            case 1:
                payload.insert(place, rng.choice(b'{}[]",:-0123456789eE.\\nfu '))
            case _:
                del payload[place]
    return bytes(payload)


def _length(n: int) -> Make:
    return lambda rng: struct.pack(">I", n) + rng.randbytes(rng.randrange(100))


STREAMS: dict[str, Make] = {
    "length 0": _length(0),
    "length 2^32-1": _length(2**32 - 1),
    "length 16 MB + 1": _length(MAX_FRAME + 1),
    "text": lambda rng: b"terminate called after " + rng.randbytes(rng.randrange(100)),
}

HARMFUL_IN_A_TURN: dict[str, Make] = {
    **{name: (lambda rng, make=make: frame(make(rng))) for name, make in FRAMES.items()},
    **STREAMS,
    "done too early": lambda _rng: frame(encode_message(Done())),
    "done twice": lambda _rng: frame(encode_message(Done())) * 2,
    "another turn's end": lambda _rng: _ends("other"),
    "another load's end": lambda _rng: frame(SOUND[2]) + frame(encode_message(Done())),
}
"""Bytes behind which no answer of this process can be taken for one."""


def _ends(turn_id: str) -> bytes:
    from paceline.messages import TurnFailed

    return frame(encode_message(TurnFailed(turn_id, "x", "y", ""))) + frame(encode_message(Done()))


def frames_of_all_kinds(rng: random.Random, n: int) -> Iterator[tuple[str, bytes]]:
    """Yield `n` payloads in turns from every kind; no kind but "mutated" is ever a message."""
    kinds = [*FRAMES.items(), ("mutated", mutated)]
    for i in range(n):
        name, make = kinds[i % len(kinds)]
        yield name, make(rng)
