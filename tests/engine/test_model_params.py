"""Which model parameters are refused, and in which words."""

from __future__ import annotations

import math

import pytest

from paceline.engine.model.model_params import check_params
from paceline.errors import ValueOutOfRangeError
from paceline.messages import ModelParams


def refusal(*, supports_gpu: bool = True, **values: object) -> ValueOutOfRangeError:
    with pytest.raises(ValueOutOfRangeError) as caught:
        check_params(ModelParams("x.gguf", **values), supports_gpu=supports_gpu, max_devices=4)  # type: ignore[arg-type]
    assert caught.value.code == "value-out-of-range"
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"n_cpu_moe": -1},
        {"n_cpu_moe": 1000},
        {"split_mode": "none", "main_gpu": 3},
        {"split_mode": "row", "tensor_split": (1.0, 0.0, 2.5, 3.0)},
        {"split_mode": "tensor"},
        {"n_gpu_layers": 12},
    ],
)
def test_with_gpus_these_are_fine(values: dict[str, object]) -> None:
    check_params(ModelParams("x.gguf", **values), supports_gpu=True, max_devices=4)  # type: ignore[arg-type]


def test_experts_may_stay_on_the_cpu_where_there_is_nothing_else() -> None:
    check_params(ModelParams("x.gguf", n_cpu_moe=-1), supports_gpu=False)
    check_params(ModelParams("x.gguf", n_cpu_moe=7), supports_gpu=False)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"tensor_split": (1.0,) * 5}, "5 shares"),
        ({"tensor_split": (1.0, -0.5)}, "out of range"),
        ({"tensor_split": (1.0, math.nan)}, "out of range"),
        ({"tensor_split": (math.inf,)}, "out of range"),
        ({"tensor_split": (1e300,)}, "out of range"),
        ({"tensor_split": (0.0, 0.0)}, "is 0"),
        ({"main_gpu": 4}, "number 4"),
    ],
)
def test_values_that_no_build_can_serve(values: dict[str, object], words: str) -> None:
    assert words in refusal(**values).message


@pytest.mark.parametrize(
    "values",
    [
        {"n_gpu_layers": 1},
        {"split_mode": "none"},
        {"split_mode": "layer"},
        {"tensor_split": (1.0,)},
        {"main_gpu": 1},
    ],
)
def test_a_build_without_gpus_refuses_what_needs_one(values: dict[str, object]) -> None:
    assert "no GPU support" in refusal(supports_gpu=False, **values).message
