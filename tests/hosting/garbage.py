"""Nonsense that a broken process may send in place of messages.

Two sorts. `FRAMES`: payloads of whole frames, none of which is a message from the engine.
`STREAMS`: bytes of which not even frames can be cut.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec import structs

from message_samples import COMMANDS, EVENTS, sample
from paceline.hosting.wire import Beat, Done, LogLine, encode_message
from paceline.workers.frames import MAX_FRAME, OWN, frame

Make = Callable[[random.Random], bytes]

REPORTS = (Done(), Beat(1, 1.5, 9, 0.5, 10.0), LogLine(30, "paceline", "x"))
_BYTES = b"\x80\x90\xa4\xc0\xc3\xca\xcb\xcc\xd9\xdcaz\x01\xff"  # of MessagePack
packed = msgspec.msgpack.encode
unpacked = msgspec.msgpack.decode
SOUND = [encode_message(sample(cls)) for cls in EVENTS] + [encode_message(r) for r in REPORTS]


def _random_bytes(rng: random.Random) -> bytes:
    return b"\xc1" + rng.randbytes(rng.randrange(400))  # nothing begins like this


def _anything(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind < 6:
        return [None, True, rng.randrange(-(2**63), 2**64), rng.random() * 1e300, "ä\n", ""][kind]
    items = [_anything(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 6:
        return items
    return {rng.choice(["type", "chat", "tokens", "x", ""]): item for item in items}


def _random_data(rng: random.Random) -> bytes:
    return packed(_anything(rng))


def _json(rng: random.Random) -> bytes:
    return msgspec.json.encode(unpacked(rng.choice(SOUND)))


NEEDED = {
    cls.__name__: [field.name for field in structs.fields(cls) if field.required]
    for cls in (*EVENTS, *map(type, REPORTS))
}
"""The fields without a default, by the message's name."""


def _with_fields(rng: random.Random) -> dict[str, Any]:
    data: dict[str, Any] = unpacked(rng.choice(SOUND))
    return data if len(data) > 1 else _with_fields(rng)


def _wrong_types(rng: random.Random) -> bytes:
    data = _with_fields(rng)
    name = rng.choice([key for key in data if key != "type"])
    data[name] = {"not": ["this", _anything(rng)]}
    return packed(data)


def _left_out(rng: random.Random) -> bytes:
    """A field is missing that the message needs."""
    data = _with_fields(rng)
    needed = NEEDED[data["type"]]
    if not needed:
        return _left_out(rng)
    del data[rng.choice(needed)]
    return packed(data)


def _unknown_field(rng: random.Random) -> bytes:
    name = "x" * rng.choice([1, 30, 20_000])
    return packed({**unpacked(rng.choice(SOUND)), name: 1})


def _cut(rng: random.Random) -> bytes:
    payload = rng.choice(SOUND)
    return payload[: rng.randrange(1, len(payload))]


def _unknown_type(rng: random.Random) -> bytes:
    name: Any = rng.choice(["", "Donne", "done", "object", 7, None, ["Done"], {"Done": 1}])
    return packed({"type": name, "text": "x"})


def _long_type(rng: random.Random) -> bytes:
    return packed({"type": "x" * rng.randrange(10**4, 10**5)})


def _command(rng: random.Random) -> bytes:
    return encode_message(sample(rng.choice(COMMANDS)))


def _lone_surrogate(rng: random.Random) -> bytes:
    return _log_line("@@@").replace(b"@@@", b"\xed\xa0\x80")


def _log_line(text: Any) -> bytes:
    return packed({"type": "LogLine", "level": 7, "logger": "x", "text": text})


def _huge_length(rng: random.Random) -> bytes:
    """A length that nothing follows: of texts, bytes, lists, objects or extensions."""
    n = rng.choice([2**16, 2**31, 2**32 - 1])
    head = rng.choice([b"\xdb", b"\xc6", b"\xdd", b"\xdf", b"\xc9"])
    return _log_line(0)[:-1] + head + struct.pack(">I", n)


def _no_number(rng: random.Random) -> bytes:
    level = rng.choice([math.nan, math.inf, -math.inf, 1.0])
    return packed({"type": "LogLine", "level": level, "logger": "x", "text": "x"})


def _deep(rng: random.Random) -> bytes:
    depth = rng.choice([rng.randrange(1, 400), rng.randrange(400, 2000), 100_000])
    nest = rng.choice([b"\x91" * depth + b"\x90", b"\x81\xa1a" * depth + b"\x01"])
    return rng.choice([b"", b"\x81\xa4type", _log_line(0)[:-1]]) + nest


def _own_word(rng: random.Random) -> bytes:
    return OWN + rng.choice([b"", b"ready", b"read", b"dying", bytes(rng.randrange(400))])


FRAMES: dict[str, Make] = {
    "word of its own": _own_word,
    "random bytes": _random_bytes,
    "random data": _random_data,
    "JSON": _json,
    "wrong types": _wrong_types,
    "a field left out": _left_out,
    "unknown field": _unknown_field,
    "cut": _cut,
    "unknown type": _unknown_type,
    "long type": _long_type,
    "command": _command,
    "lone surrogate": _lone_surrogate,
    "huge length": _huge_length,
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
                payload.insert(place, rng.choice(_BYTES))
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
    "another load's end": lambda _rng: frame(SOUND[2]) + frame(encode_message(Done())),
}
"""Bytes after which no answer of this process can be mistaken for a valid one."""


def frames_of_all_kinds(rng: random.Random, n: int) -> Iterator[tuple[str, bytes]]:
    """Yield `n` payloads in turns from every kind; no kind but "mutated" is ever a message."""
    kinds = [*FRAMES.items(), ("mutated", mutated)]
    for i in range(n):
        name, make = kinds[i % len(kinds)]
        yield name, make(rng)
