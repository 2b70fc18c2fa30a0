"""Random JSON schemas of all keywords, decided by a seed.

Most are meaningful and some value is valid under them. About a third is simple but for one keyword,
a third looks as Pydantic and Zod write schemas (`usual`), a third is nested and mixed, and a few
are nonsense in part.
"""

from __future__ import annotations

import random
from typing import Any

from schemas import single, usual, words
from schemas.maker import Maker, Schema

DEPTH = 3


def random_schema(seed: int) -> Any:
    """Return the schema of a seed, always the same: an object, seldom a Boolean."""
    rng = random.Random(seed)
    kind = rng.random()
    if kind < 0.005:
        return rng.random() < 0.7
    if kind < 0.3:
        return usual.usual_schema(rng)
    return _schema(Maker(rng), simple=kind < 0.65)


def _schema(maker: Maker, *, simple: bool) -> Schema:
    """Return a whole schema; a simple one is ordinary but for one keyword or two."""
    rng = maker.rng
    if simple:
        made = rng.choice(single.KEYWORDS)(maker)
        if rng.random() < 0.25:
            made = _merged(made, rng.choice(single.KEYWORDS)(maker))
        if rng.random() < 0.4:
            made = _around(maker, made)
    else:
        made = _any(maker, 0)
        if rng.random() < 0.12:
            made = maker.with_nonsense(made)
    if rng.random() < 0.04:
        made["x-guidance"] = rng.choice(
            ({"lenient": True}, {"coerce_one_of": True}, {"whitespace_flexible": False}, {})
        )
    if maker.defs:
        shelf = made.get(maker.shelf)  # nonsense may have taken its place
        made[maker.shelf] = {**(shelf if isinstance(shelf, dict) else {}), **maker.defs}
    return {**maker.first, **made}


def _any(maker: Maker, depth: int) -> Schema:
    """Return a schema with further ones in it, down to `DEPTH`."""
    rng = maker.rng
    if depth >= DEPTH:
        return maker.leaf()
    kind = rng.random()
    if kind < 0.22:
        made = _combined(maker, depth)
    elif kind < 0.32:
        made = _ref(maker, depth)
    elif kind < 0.62:
        made = _object(maker, depth)
    elif kind < 0.78:
        made = _array(maker, depth)
    else:
        made = maker.leaf()
    return maker.remarked(made) if rng.random() < 0.2 else made


def _object(maker: Maker, depth: int) -> Schema:
    rng = maker.rng
    named = words.names(rng, rng.choice((0, 1, 2, 2, 3, 4, 6)))
    made: Schema = {"type": "object"} if rng.random() < 0.9 else {}
    if named:
        made["properties"] = {name: _child(maker, depth) for name in named}
        required = [name for name in named if rng.random() < 0.5]
        if required or maker.draft != "4":
            made["required"] = required
    if rng.random() < 0.05:
        made["required"] = [*made.get("required", []), words.name(rng) + "2"]
    if rng.random() < 0.45:
        made["additionalProperties"] = (
            rng.random() < 0.2 if rng.random() < 0.75 else _child(maker, depth)
        )
    for word, chance in (
        (single.pattern_properties, 0.1),
        (single.property_names, 0.06),
        (single.n_properties, 0.1),
        (single.dependent, 0.08),
        (single.unevaluated_properties, 0.06),
    ):
        if rng.random() < chance:
            extra = word(maker)
            extra.pop("properties", None)
            made = {**extra, **made}
    return made


def _child(maker: Maker, depth: int) -> Any:
    rng = maker.rng
    if rng.random() < 0.03:
        return rng.random() < 0.8
    return _any(maker, depth + 1)


def _array(maker: Maker, depth: int) -> Schema:
    rng = maker.rng
    made: Schema = {"type": "array"} if rng.random() < 0.92 else {}
    if rng.random() < 0.8:
        made["items"] = _child(maker, depth)
    else:
        made.update(maker.listed([_child(maker, depth) for _ in range(rng.randint(1, 3))]))
    if rng.random() < 0.45:
        made.update(maker.counted("Items", (0, 1, 2, 3), 3))
    if rng.random() < 0.12:
        made["uniqueItems"] = True
    if rng.random() < 0.08 and maker.draft != "4":
        made.update(single.contains(maker))
    return made


def _combined(maker: Maker, depth: int) -> Schema:
    rng = maker.rng
    makers = [single.all_of, single.any_of, single.one_of, single.not_, single.beside_one_of]
    if maker.draft not in {"4", "6"}:
        makers.append(single.if_)
    made = rng.choice(makers)(maker)
    if rng.random() < 0.35:
        word = rng.choice(("anyOf", "oneOf", "allOf"))
        made = {word: [_any(maker, depth + 1) for _ in range(rng.randint(1, 3))]}
    if rng.random() < 0.2:
        made = {**_object(maker, depth + 1), **made}
    return made


def _ref(maker: Maker, depth: int) -> Schema:
    rng = maker.rng
    kind = rng.random()
    if kind < 0.12:
        made = single.recursive(maker)
    elif maker.defs and kind < 0.5:
        made = {"$ref": maker.pointer(rng.choice(list(maker.defs)))}
    else:
        made = {"$ref": maker.defined(_any(maker, depth + 1))}
    if rng.random() < 0.25:
        made.update(rng.choice((maker.string, maker.number, maker.enum))())
    return made


def _around(maker: Maker, schema: Schema) -> Schema:
    rng = maker.rng
    name = words.name(rng)
    match rng.randrange(4):
        case 0:
            return {"type": "array", "items": schema, "maxItems": 3}
        case 1:
            return {"type": "object", "properties": {name: schema}, "required": [name]}
        case 2:
            fields = {name: schema, "other": maker.plain()}
            closed = {"required": [name], "additionalProperties": False}
            return {"type": "object", "properties": fields, **closed}
        case _:
            return {"anyOf": [schema, {"type": "null"}]}


def _merged(one: Schema, other: Schema) -> Schema:
    """Return both in one object, unless they say different things by the same keyword."""
    if any(one[word] != other[word] for word in one.keys() & other.keys()):
        return one
    return {**one, **other}
