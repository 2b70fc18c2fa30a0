"""Which vocabulary a lookup-cache file belongs to: a small JSON file beside it.

llama.cpp's format does not say, and token ids of another vocabulary would be drafted in vain. A
file without such a sidecar, as llama.cpp's tools write it, is believed when its ids exist.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from paceline.engine.drafters.lookup_cache import LookupCache
from paceline.errors import UserError
from paceline.files import write_whole


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a lookup cache comes from.

    Attributes:
        vocabulary: The vocabulary's hash, see `vocab.vocabulary_hash`.
        model: The name of a model with this vocabulary, for people; may be empty.
    """

    vocabulary: str
    model: str = ""


def sidecar(path: Path) -> Path:
    """Return the sidecar's path."""
    return path.with_name(f"{path.name}.json")


def read_origin(path: Path) -> Origin | None:
    """Return what the sidecar of a lookup cache says; None when it has none.

    Raises:
        UserError: The sidecar cannot be read or understood.
    """
    place = sidecar(path)
    try:
        data = json.loads(place.read_text("utf-8"))
        return Origin(str(data["vocabulary"]), str(data.get("model", "")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise UserError(
            "bad-lookup-cache",
            f"“{place.name}”, which tells the vocabulary of “{path.name}”, cannot be understood.",
            "Make both anew by `paceline cache build`, or delete it if you know that they fit.",
        ) from error


def write_origin(path: Path, origin: Origin | None) -> None:
    """Write the sidecar of a lookup cache; None takes an old one away.

    Raises:
        OSError: It cannot be written.
    """
    if origin is None:
        sidecar(path).unlink(missing_ok=True)
    else:
        text = json.dumps(asdict(origin), indent=1, ensure_ascii=False)
        write_whole(sidecar(path), text.encode())


def check_fits(
    path: Path, cache: LookupCache, origin: Origin | None, vocabulary: str, n_vocab: int
) -> None:
    """Make sure that a lookup cache can be used with a model.

    Args:
        path: The file, for the error.
        cache: Its content.
        origin: Its sidecar's.
        vocabulary: The hash of the model's vocabulary.
        n_vocab: Its size.

    Raises:
        UserError: It was made for another vocabulary.
    """
    hint = "Build one for this model by `paceline cache build`."
    if origin is not None and origin.vocabulary != vocabulary:
        made_for = f"for “{origin.model}”" if origin.model else "for another model"
        raise UserError(
            "other-vocabulary",
            f"The lookup cache “{path.name}” was made {made_for}, whose tokens are not the same.",
            hint,
        )
    if cache.largest_token >= n_vocab:
        raise UserError(
            "other-vocabulary",
            f"The lookup cache “{path.name}” has token {cache.largest_token}, but the model has "
            f"only {n_vocab} tokens.",
            hint,
        )
