"""The structure has no import circles, and every room stays within its budget."""

from __future__ import annotations

from architecture import measures
from architecture.budgets import BUDGETS, Size
from architecture.source import module


def over_budget(sizes: dict[str, Size], budgets: dict[str, Size]) -> dict[str, tuple[Size, Size]]:
    """Rooms that have more files or code lines than their budget allows, or have no budget."""
    none = Size(0, 0)
    found = {room: (size, budgets.get(room, none)) for room, size in sizes.items()}
    return {
        room: (size, budget)
        for room, (size, budget) in found.items()
        if size.files > budget.files or size.code_lines > budget.code_lines
    }


def test_no_module_imports_itself_through_others() -> None:
    assert not measures.circles()


def test_rooms_stay_within_their_budgets() -> None:
    sizes = {room: Size(*size) for room, size in measures.rooms().items()}
    assert not over_budget(sizes, BUDGETS), "raise the budget in budgets.py and say why there"


def test_every_budget_is_of_a_room() -> None:
    assert not BUDGETS.keys() - measures.rooms().keys()


def test_a_room_over_its_budget_is_seen() -> None:
    sizes = {"a": Size(2, 10), "b": Size(1, 11), "c": Size(3, 10), "new": Size(1, 1)}
    budgets = dict.fromkeys("abc", Size(2, 10))
    assert over_budget(sizes, budgets).keys() == {"b", "c", "new"}


def test_docstrings_are_kept() -> None:
    documented = sum(len(measures.docstring_lines(m)) for m in measures.modules())
    lines = sum(m.text.count("\n") for m in measures.modules())
    assert documented > 0.14 * lines


def test_only_code_counts_as_code() -> None:
    text = '"""A module.\n\nOf two.\n"""\n\n# why\nX = (\n    1\n)\n"""What X is."""\n'
    example = module(text)
    assert measures.code_lines(example) == 3
    assert measures.docstring_lines(example) == {1, 2, 3, 4, 10}
