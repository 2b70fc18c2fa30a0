"""The formats of JSON schemas that can be enforced, with their patterns.

Each text that is written here is valid for `jsonschema`'s checkers, with or without the packages
that they use, and by the standard of the format. Not every valid text can be written: no leap
second, no host name in punycode, no regular expression with groups.
"""

from __future__ import annotations

LIBRARY = frozenset({"email", "ipv4", "ipv6", "uuid", "duration"})
"""Formats that the grammar library enforces by itself."""

_LEAP = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_DATE = (
    f"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    f"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP}-02-29)"
)
_TIME = (
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
    "(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_LABEL = "[a-z0-9](?:-?[a-z0-9]){0,30}"
_HOST = rf"{_LABEL}(?:\.{_LABEL}){{0,2}}\.[a-z]{{2,24}}"
_UNRESERVED = "[A-Za-z0-9._~-]"
_PATH = f"(?:/{_UNRESERVED}*)*"
_QUERY = f"(?:[?](?:{_UNRESERVED}|[=&+/])*)?(?:#(?:{_UNRESERVED}|[=&+/])*)?"
_URI = (
    rf"(?:[a-zA-Z][a-zA-Z0-9]{{1,15}}://{_HOST}(?::[1-9][0-9]{{0,3}})?{_PATH}{_QUERY}"
    rf"|(?:urn:[a-z0-9]{{2,16}}:{_UNRESERVED}+|mailto:{_UNRESERVED}+@{_HOST}))"
)
_POINTER = r"(?:/(?:[\x{1}-.0-}]|~[01])*)*"
_ATOM = r"(?:[A-Za-z0-9 _/:,;=@<>!-]|\\[dwsDWS.\\]|\.|\[(?:[A-Za-z0-9_ ]|a-z|A-Z|0-9)+\])"

PATTERNS = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "hostname": _HOST,
    "idn-hostname": _HOST,
    "uri": _URI,
    "iri": _URI,
    "uri-reference": f"(?:{_URI}|{_UNRESERVED}*{_PATH}{_QUERY})",
    "iri-reference": f"(?:{_URI}|{_UNRESERVED}*{_PATH}{_QUERY})",
    "uri-template": f"(?:{_UNRESERVED}|/)*(?:\\{{[A-Za-z0-9_]+\\}}(?:{_UNRESERVED}|/)*)*",
    "json-pointer": _POINTER,
    "relative-json-pointer": f"(?:0|[1-9][0-9]{{0,8}})(?:#|{_POINTER})",
    "regex": rf"\^?(?:{_ATOM}[*+?]?)*\$?",
}
"""Formats that are enforced by a regular expression for the whole text."""

SAME = {"idn-email": "email", "ip-address": "ipv4", "host-name": "hostname"}
"""Formats that are enforced as another one: each of its texts is valid for both."""
