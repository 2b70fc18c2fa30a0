"""The parts of a random schema: simple values, and the definitions that others refer to."""

from __future__ import annotations

import random
from typing import Any, Literal
from urllib.parse import quote

from schemas import words
from schemas.patterns import random_pattern

Schema = dict[str, Any]
Draft = Literal["4", "6", "7", "2019-09", "2020-12"]
URIS: dict[Draft, str] = {
    "4": "http://json-schema.org/draft-04/schema#",
    "6": "http://json-schema.org/draft-06/schema#",
    "7": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")


class Maker:
    """Makes parts of one schema in the words of its draft, and keeps its definitions."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.draft: Draft = "2020-12"
        self.first: Schema = {}
        if rng.random() < 0.4:
            self.write_for(rng.choice(("4", "6", "7", "7", "2019-09", "2020-12", "2020-12")))
        is_new = self.draft in {"2019-09", "2020-12"}
        self.shelf = "$defs" if is_new == (rng.random() < 0.9) else "definitions"
        self.defs: dict[str, Schema] = {}

    def write_for(self, draft: Draft) -> None:
        """Use the words of a draft, and say so."""
        self.draft = draft
        self.first = {"$schema": URIS[draft]}

    def plain(self) -> Schema:
        """Return what says no more than a type, or lists two values."""
        rng = self.rng
        if rng.random() < 0.25:
            return {"enum": words.values(rng, "string", 3)}
        return {"type": rng.choice(("string", "string", "integer", "integer", "number", "boolean"))}

    def leaf(self) -> Schema:
        """Return a schema without further ones in it."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.35:
            return self.string()
        if kind < 0.65:
            return self.number()
        if kind < 0.8:
            return self.enum()
        return {"type": rng.choice(TYPES[:5])} if kind < 0.95 else {}

    def string(self) -> Schema:
        """Return a text, often with a pattern, a format or lengths."""
        rng = self.rng
        made: Schema = {"type": "string"} if rng.random() < 0.9 else {}
        kind = rng.random()
        if kind < 0.3:
            made["pattern"] = random_pattern(rng)
        elif kind < 0.5:
            made["format"] = self.format_name()
        if rng.random() < (0.5 if kind >= 0.5 else 0.2):
            made.update(self.counted("Length", (0, 1, 2, 3, 5, 20), 12))
        return made

    def format_name(self) -> str:
        """Return the name of a format, seldom one that no draft knows."""
        return self.rng.choice(words.FORMATS if self.rng.random() < 0.9 else words.OTHER_FORMATS)

    def counted(self, of: str, lows: tuple[int, ...], more: int) -> Schema:
        """Return ``min`` or ``max`` of something, or both."""
        rng = self.rng
        low = rng.choice(lows)
        high = low + rng.randint(0, more)
        which = rng.randrange(3)
        made: Schema = {} if which == 1 else {f"min{of}": low}
        if which:
            made[f"max{of}"] = high
        return made

    def number(self) -> Schema:
        """Return a number, often with bounds or a step."""
        rng = self.rng
        of = rng.choice(("integer", "number"))
        made: Schema = {"type": of} if rng.random() < 0.92 else {}
        if rng.random() < 0.6:
            made.update(self.bounds(of))
        if rng.random() < 0.25:
            made["multipleOf"] = rng.choice(words.STEPS)
        return made

    def bounds(self, of: str) -> Schema:
        """Return a lower or an upper bound, or both."""
        rng = self.rng
        low = rng.choice(words.NUMBERS)
        if of == "integer" and rng.random() < 0.8:
            low = int(low)
        width = rng.choice((0, 1, 2, 9, 10, 99, 1000, 0.5, 0.25, 1e6))
        made: Schema = {}
        which = rng.randrange(3)
        if which != 1:
            made.update(self.bound("minimum", "exclusiveMinimum", low))
        if which:
            made.update(self.bound("maximum", "exclusiveMaximum", low + width))
        return made

    def bound(self, word: str, exclusive: str, at: float) -> Schema:
        if self.rng.random() < 0.65:
            return {word: at}
        return {word: at, exclusive: True} if self.draft == "4" else {exclusive: at}

    def enum(self) -> Schema:
        """Return a list of values, or one."""
        rng = self.rng
        of = rng.choice((*TYPES, "string", "string", "string", "mixed"))
        listed = words.values(rng, of, rng.choice((1, 2, 3, 5, 9)))
        if self.draft != "4" and (len(listed) == 1 or rng.random() < 0.2):
            made: Schema = {"const": listed[0]}
        else:
            made = {"enum": listed}
        if of != "mixed" and rng.random() < 0.5:
            made["type"] = of
        if rng.random() < 0.1:
            made["type"] = [rng.choice(TYPES), "string"]
        return made

    def listed(self, listed: list[Any]) -> Schema:
        """Return an array whose items have schemas of their own."""
        rng = self.rng
        rest: Any = rng.choice((None, False, False, True, self.plain()))
        if self.draft == "2020-12":
            return {"prefixItems": listed, **({} if rest is None else {"items": rest})}
        return {"items": listed, **({} if rest is None else {"additionalItems": rest})}

    def defined(self, schema: Schema) -> str:
        """Put a schema on the shelf and return the reference to it."""
        name = words.name(self.rng) if self.rng.random() < 0.3 else f"def{len(self.defs)}"
        while name in self.defs:
            name += "x"
        self.defs[name] = schema
        return self.pointer(name)

    def pointer(self, name: str) -> str:
        """Return the reference to a definition; seldom without the escapes of an address."""
        escaped = name.replace("~", "~0").replace("/", "~1")
        if self.rng.random() < 0.9:
            escaped = quote(escaped, safe="~!$&'()*+,;=:@-._")
        return f"#/{self.shelf}/{escaped}"

    def remarked(self, made: Schema) -> Schema:
        """Add words that say nothing about which values are valid."""
        rng = self.rng
        remark: Schema = rng.choice(
            ({"title": words.text(rng)}, {"description": 'Says "what" it is.\nIn two lines.'},
             {"default": words.value(rng)}, {"examples": [words.value(rng)]},
             {"deprecated": True}, {"readOnly": True}, {"writeOnly": True},
             {"$comment": "nothing"}, {"contentEncoding": "base64"},
             {"contentMediaType": "application/json", "contentSchema": {"type": "object"}},
             {"nullable": True}, {"example": 3, "xml": {"name": "a"}},
             {"discriminator": {"propertyName": "kind"}}, {"x-order": 1}, {"units": "cm"},
             {"enumNames": ["A", "B"]}, {"errorMessage": "no"}, {"id": "thing"},
             {"Type": "integer", "minlength": 3})
        )  # fmt: skip
        return {**made, **remark}

    def with_nonsense(self, made: Schema) -> Schema:
        """Add what contradicts itself, or is no keyword's value."""
        rng = self.rng
        odd: Schema = rng.choice(
            ({"minItems": 3, "maxItems": 2}, {"minLength": 3, "maxLength": 2},
             {"minimum": 5, "maximum": 4}, {"enum": []}, {"type": []}, {"type": "any"},
             {"type": "string", "enum": [1, 2]}, {"required": "a"}, {"required": True},
             {"properties": {"a": 1}}, {"minLength": 2.0}, {"minItems": -1}, {"maxLength": "3"},
             {"multipleOf": 0}, {"allOf": []}, {"$ref": "#/nowhere/at/all"},
             {"$ref": "https://example.com/schema.json"}, {"$ref": "#"}, {"not": {}},
             {"items": False, "minItems": 1},
             {"additionalProperties": False, "required": ["never"]}, {"const": 1, "enum": [2]},
             {"allOf": [{"type": "string"}, {"type": "integer"}]}, {"propertyNames": False},
             {"pattern": "["}, {"format": 3}, {"minimum": "1"}, {"maxLength": 10**9},
             {"minItems": 10**6}, {"exclusiveMinimum": True},
             {"$schema": "https://example.com/my-own"},
             {"uniqueItems": True, "items": {"type": "boolean"}, "minItems": 3}, {"$defs": []})
        )  # fmt: skip
        return {**made, **odd}
