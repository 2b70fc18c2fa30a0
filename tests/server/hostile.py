"""Requests that are broken or mean harm, made at random from valid ones."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from server.wire import request

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

MARK = "zebra-quokka"
"""Stands in every prompt; nowhere else may it be found."""
_SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 5}, "n": {"enum": [1, 2]}},
    "required": ["name"],
    "additionalProperties": False,
}
_FUNCTION = {"name": "look", "description": "Look.", "parameters": _SCHEMA}
_HELLO = {"role": "user", "content": f"Hello {MARK}"}
_CALLED = [
    {"role": "system", "content": [{"type": "text", "text": "Be short."}]},
    _HELLO,
    {"role": "assistant", "content": None, "reasoning_content": "So?", "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "a", "content": "seen"},
]  # fmt: skip
_SAMPLING: dict[str, Any] = {
    "temperature": 0.5, "top_p": 0.9, "top_k": 5, "min_p": 0.1, "presence_penalty": 0.1,
    "frequency_penalty": 0.1, "repeat_penalty": 1.1, "logit_bias": {"5": 1.5}, "seed": 7,
    "stop": ["stop", "end"], "ignore_eos": False, "paceline": {"strategy": "draft:n_max=2"},
}  # fmt: skip
VALID: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/v1/chat/completions", {"messages": [_HELLO], "model": "m", "max_tokens": 2, **_SAMPLING}),
    ("/v1/chat/completions", {
        "messages": _CALLED, "max_completion_tokens": 2, "n": 2, "stream": True,
        "stream_options": {"include_usage": True}, "logprobs": True, "top_logprobs": 2,
        "tools": [{"type": "function", "function": _FUNCTION}], "tool_choice": "auto",
        "parallel_tool_calls": False, "reasoning_effort": "low",
        "prediction": {"type": "content", "content": "I see"},
    }),
    ("/v1/chat/completions", {
        "messages": [_HELLO], "max_tokens": 3, "chat_template_kwargs": {"enable_thinking": True},
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": _SCHEMA}},
    }),
    ("/v1/chat/completions", {
        "messages": [_HELLO], "max_tokens": 3, "tool_choice": "required",
        "tools": [{"type": "function", "function": _FUNCTION}],
    }),
    ("/v1/chat/completions", {"messages": [_HELLO], "max_tokens": 2, "grammar": 'root ::= "a"+'}),
    ("/v1/completions", {
        "prompt": f"def {MARK}", "max_tokens": 2, "logprobs": 2, "n": 1,
        "stream": True, **_SAMPLING,
    }),
    ("/v1/completions", {"prompt": ["one", "two"], "suffix": "x", "max_tokens": 2, "best_of": 1}),
    ("/v1/completions", {"prompt": [5, 6, 7], "max_tokens": 2, "echo": True}),
    ("/v1/responses", {
        "input": [{"type": "message", "role": "user",
                   "content": [{"type": "input_text", "text": MARK}]}],
        "instructions": "Be short.", "max_output_tokens": 2, "stream": True, "store": False,
        "tools": [{"type": "function", "name": "look", "parameters": _SCHEMA}],
        "text": {"format": {"type": "text"}}, "reasoning": {"effort": "low"}, "temperature": 0.5,
    }),
    ("/v1/messages", {
        "messages": [{"role": "user", "content": [{"type": "text", "text": MARK}]}],
        "system": [{"type": "text", "text": "Be short."}], "max_tokens": 2, "stream": True,
        "stop_sequences": ["x"], "thinking": {"type": "disabled"}, "top_k": 5,
        "tools": [{"name": "look", "input_schema": _SCHEMA}], "tool_choice": {"type": "auto"},
    }),
    ("/v1/messages/count_tokens", {"messages": [{"role": "user", "content": MARK}]}),
    ("/tokenize", {"content": MARK, "add_special": True, "with_pieces": True}),
    ("/detokenize", {"tokens": [5, 6, 7]}),
    ("/apply-template", {"messages": [_HELLO]}),
    ("/completion", {"prompt": MARK, "n_predict": 2, "n_probs": 2, "stream": True}),
    ("/infill", {"input_prefix": "a", "input_suffix": "b", "n_predict": 2,
                 "input_extra": [{"filename": "f", "text": "t"}]}),
)  # fmt: skip
"""A valid request or more for every route that takes one."""

_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 8, 9, 20, 21, 10**9, 2**31, 2**63, 2**64, -(2**63), 10**30, 0.5,
    -0.0, 1e-320, 1e308, -1e308, "", "x", "null", "\x00", "\x00" * 50, "é", "日本語", "\U0001f44d",
    "\ufeff", "\uffff", "\u202e", "a\r\nb: c", "<|im_end|>", "{{ 7 * 7 }}", "{% raise %}",
    "' OR 1=1 --", "../../etc/passwd", "%s%n%x", "x" * 5_000, "-1", "1e9", [], {}, [[]], [{}],
    [None], [""], [0], ["x"] * 50, [5] * 700, {"": None}, {"type": None}, {"type": "x"},
    {"$ref": "#"}, {"type": "object", "properties": {"a": {"$ref": "#"}}}, "root ::= root",
    "root ::= (", "auto", "text", "user", "image_url", {"role": "user", "content": ""},
    {"-1": 1, "99999999": 1, "5": 1e308}, "draft:n_max=99999", "auto+auto", "off:x=1", "mtp",
)  # fmt: skip
_RAW = (
    b"NaN", b"Infinity", b"-Infinity", b"1e999", b"9" * 5_000, b'"\\ud800"', b'"\\udc00\\ud800"',
    b'"\\u0000"', b'"\xff\xfe"', b'"\xed\xa0\x80"', b"'x'", b"undefined", b"01", b".5", b"+1", b"",
    b"[" * 200 + b"]" * 200, b'{"a":' * 200 + b"1" + b"}" * 200, b"[" * 50_000, b'"\x01"', b"/**/1",
)  # fmt: skip
_PLACE = "@@place@@"


class Hostile(NamedTuple):
    """A request.

    Attributes:
        kind: "sender": it must not be let in; "framing": perhaps it gets no answer; "body".
        data: Its bytes.
        what: Tells what is wrong, for people.
    """

    kind: Literal["sender", "framing", "body"]
    data: bytes
    what: str


def make_hostile(random: Random, url: str, key: str) -> Hostile:
    """Return a random hostile request.

    Args:
        random: Source of randomness.
        url: URL of the server.
        key: Key of the server.
    """
    makers: tuple[Callable[[Random, str, str], Hostile], ...] = (
        _changed, _changed, _changed, _raw, _cut, _sender, _framing, _route,
    )  # fmt: skip
    return random.choice(makers)(random, url, key)


def make_stranger(random: Random, url: str) -> Hostile:
    """Return a request that calls a server without a key by a name that is not its own."""
    path, body = random.choice(VALID)
    method = random.choice(("POST", "GET", "OPTIONS", "DELETE"))
    address, _, port = url.rpartition("/")[2].partition(":")
    other = str(random.choice((80, 443, int(port) + 1, int(port) * 10)))
    host = random.choice(
        (f"evil.example:{port}", f"{address}.evil.example:{port}", f"{address}:{other}", address,
         f"evil@{address}:{port}", f"{address}.:{port}", f"[{address}]:{port}", "localhost", "null",
         f"{random.getrandbits(32)}:{port}", f"{address}:{port}:{port}", f"{address}:{port}/",
         "".join(chr(random.randrange(33, 256)) for _ in range(9)) + f":{port}")
    )  # fmt: skip
    kind = "Content-Type: application/json"
    data = request(url, f"{method} {path}", kind, host=host, body=_json(body))
    return Hostile("sender", data, f"{method} {path} {host}")


def _post(url: str, path: str, key: str, body: bytes, *headers: str, **more: Any) -> bytes:
    lines = ("Content-Type: application/json", f"x-api-key: {key}", *headers)
    return request(url, f"POST {path}", *lines, body=body, **more)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every place within a value: what holds it, and where there."""
    found: list[tuple[Any, Any]] = []
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for name, each in inner:
        found.append((value, name))
        if isinstance(each, (dict, list)):
            found += _places(each)
    return found


def _changed(random: Random, url: str, key: str) -> Hostile:
    """Change values of a valid body, drop them, or put them where they do not belong."""
    path, body = copy.deepcopy(random.choice(VALID))
    changes = []
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        places = _places(body)
        if not places:
            break
        holder, name = random.choice(places)
        value = copy.deepcopy(random.choice(_VALUES))
        match random.randrange(6):
            case 0:
                del holder[name]
            case 1 if isinstance(holder, list):
                holder += [value] * random.choice((1, 40))
            case 1:
                holder[random.choice((" ", "é\r\nx: y", "\x00", "a" * 500, "type"))] = value
            case 2:
                holder[name] = [holder[name]]
            case 3:
                holder[name] = copy.deepcopy(random.choice(places)[0])
            case _:
                holder[name] = value
        changes.append(f"{name!r}: {value!r:.60}")
    return Hostile("body", _post(url, path, key, _json(body)), f"{path} {changes}")


def _json(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _raw(random: Random, url: str, key: str) -> Hostile:
    """Put what is no JSON, or hardly, in the place of a value or of the body."""
    path, body = copy.deepcopy(random.choice(VALID))
    raw = random.choice(_RAW)
    if random.random() < 0.2:
        data = raw or b" "
    else:
        holder, name = random.choice(_places(body))
        holder[name] = _PLACE
        data = _json(body).replace(f'"{_PLACE}"'.encode(), raw)
    return Hostile("body", _post(url, path, key, data), f"{path} {raw[:30]!r}")


def _cut(random: Random, url: str, key: str) -> Hostile:
    """Cut a body off, or change bytes of it."""
    path, body = random.choice(VALID)
    data = bytearray(_json(body))
    if random.random() < 0.4:
        del data[random.randrange(1, len(data)) :]
    else:
        for _ in range(random.randint(1, 5)):
            data[random.randrange(len(data))] = random.randrange(256)
    return Hostile("body", _post(url, path, key, bytes(data)), f"{path} {bytes(data[:80])!r}")


def _sender(random: Random, url: str, key: str) -> Hostile:
    """Ask with a wrong key or Origin, or a wrong media type, whatever the path and the method."""
    path, body = random.choice(VALID)
    path = random.choice((path, path, "/v1/models", "/props", "/metrics", "/x", "//" + path))
    method = random.choice(("POST", "POST", "GET", "OPTIONS", "PUT", "DELETE"))
    wrong = random.choice(("key", "origin", "both"))
    headers = ["Content-Type: application/json", "Access-Control-Request-Method: POST"]
    if wrong in ("key", "both"):
        bad = random.choice((key[:-1], key + "x", "", key.upper(), "\xff", "x" * 3_000))
        style = random.choice(("x-api-key: ", "Authorization: Bearer ", "Authorization: ", "Key: "))
        headers.append(style + bad)
        if random.random() < 0.3:
            headers.append(f"Authorization: Basic {key}")
    else:
        headers.append(f"x-api-key: {key}")
    if wrong in ("origin", "both"):
        headers.append("Origin: " + random.choice(("null", "", "http://evil.example", url, "*")))
    random.shuffle(headers)
    data = request(url, f"{method} {path}", *headers, body=_json(body))
    return Hostile("sender", data, f"{method} {path} {headers}")


def _framing(random: Random, url: str, key: str) -> Hostile:
    """Break the form of HTTP."""
    path, body = random.choice(VALID)
    raw = _json(body)
    smuggled = request(url, "GET /v1/models")
    good = _post(url, path, key, raw)
    match random.randrange(9):
        case 0:
            lengths = random.choice(("5", "-1", "1e3", "0x10", str(2**70), "99999999", "5, 6"))
            data = _post(url, path, key, raw, f"Content-Length: {lengths}", has_length=False)
        case 1:
            data = _post(url, path, key, raw, "Transfer-Encoding: chunked")
        case 2:
            data = _post(
                url, path, key, b"0\r\n\r\n" + smuggled, "Transfer-Encoding: chunked",
                has_length=False,
            )  # fmt: skip
        case 3:
            chunks = random.choice((b"zz\r\n", b"-1\r\n", b"5\r\nab", b"f" * 40 + b"\r\nx"))
            data = _post(url, path, key, chunks, "Transfer-Encoding: chunked", has_length=False)
        case 4:
            data = good[: random.randrange(len(good))]
        case 5:
            data = good.replace(b"HTTP/1.1", random.choice((b"HTTP/9.9", b"HTTP/1.0", b"", b"x")))
        case 6:
            data = random.randbytes(random.randint(1, 300)) + random.choice((b"", b"\r\n\r\n"))
        case 7:
            data = bytearray(good)
            for _ in range(3):
                data[random.randrange(len(data) - len(raw))] = random.randrange(256)
            data = bytes(data)
        case _:
            data = good + smuggled + b"GET" * random.randrange(3)
    return Hostile("framing", data, repr(data[:100]))


def _route(random: Random, url: str, key: str) -> Hostile:
    """Ask for what there is not, in ways that there are not."""
    path = random.choice(VALID)[0]
    path = random.choice(
        (path, path + "/", path.upper(), path + "?x=%00", "/v1/models/%ff%00", "/%2e%2e/x", "/",
         "/v1/models/../../etc/passwd", "*", "http://evil.example" + path, path + "#x", "\\x")
    )  # fmt: skip
    method = random.choice(("GET", "HEAD", "PUT", "DELETE", "TRACE", "OPTIONS", "CONNECT", "X"))
    data = request(url, f"{method} {path}", f"x-api-key: {key}")
    return Hostile("body", data, f"{method} {path}")
