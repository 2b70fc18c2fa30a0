"""Declared settings: what each may be, alike on the command line, in files and in the engine."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cli.program import assert_one_clear_line, paceline
from declared_values import FIELDS, NUMBERS, OTHER, OTHER_REPLY, outside, parameter, reply_settings
from paceline.chat.exchange.chat_json import from_json, to_json
from paceline.chat.presets import check_settings, presets_from_text, presets_to_text
from paceline.cli.chat import read_request
from paceline.cli.main import parse
from paceline.cli.parameter_options import written
from paceline.conversation import Conversation
from paceline.engine.draft.registry import available
from paceline.engine.draft.strategy import parse_strategy
from paceline.engine.model.model_params import FLASH_ATTN, KV_TYPES, SPLIT_MODES
from paceline.errors import UserError, ValueOutOfRangeError
from paceline.parameters import Option, Parameter, check_fields, number_words, parameters_of
from paceline.params import (
    ModelParams,
    ReplySettings,
    SamplingParams,
    params_of,
    read_bias,
    read_shares,
    shown_stop,
)
from paceline.paths import Paths
from paceline.run_record import RunRecord, record_from_json, record_to_json
from paceline.settings import ReplyPreset, SavedPair, Settings, load_settings, save_settings

KEPT = Path(__file__).with_name("kept")
"""Files as the version before wrote them."""
every_field = pytest.mark.parametrize(("cls", "name"), FIELDS)
every_number = pytest.mark.parametrize(("cls", "name"), NUMBERS)
ON_THE_COMMAND_LINE = [
    (cls, name, suffix)
    for cls, name in FIELDS
    if (option := parameter(cls, name).option) is not None
    for suffix in ("", *(["_draft"] if "{}" in option.name + option.flag else []))
]


def test_every_declared_field_is_tried() -> None:
    for cls, values in OTHER.items():
        assert set(values) == set(parameters_of(cls))
        for name, value in values.items():
            assert value != parameter(cls, name).default, name
            parameter(cls, name).check(value, kept=True)


def refusal(values: Any, **how: bool) -> str:
    with pytest.raises(ValueOutOfRangeError) as caught:
        check_fields(values, **how)
    assert (caught.value.code, caught.value.exit_code) == ("value-out-of-range", 2)
    return caught.value.message


def of_range(message: str) -> str:
    """Return what a refusal says that the value may be."""
    found = re.search(r" but it must be (.*?)(, or auto)?\.( The default|$|\s)", message)
    assert found is not None, message
    return found[1]


@every_number
def test_a_number_out_of_range_is_refused_with_its_title_value_and_range(
    cls: type, name: str
) -> None:
    of = parameter(cls, name)
    ends = f"{number_words(of.low)} {{}} {number_words(of.high)}"
    for value in outside(of, of.high):
        message = refusal(ModelParams("", **{name: value}) if cls is ModelParams
                          else cls(**{name: value}))  # fmt: skip
        assert message.startswith(f"{of.title} is {number_words(value):.60}, but it must be")
        assert ends.format("and at most" if of.excludes_low else "to") in message
    for value in (of.default, of.high, *([of.auto] if of.can_be_auto else [])):
        of.check(value)


@pytest.mark.parametrize(("cls", "name", "suffix"), ON_THE_COMMAND_LINE)
def test_the_command_line_refuses_what_the_engine_refuses(
    cls: type, name: str, suffix: str
) -> None:
    of = parameter(cls, name)
    if of.is_number:
        wrong = [(value, str(value)) for value in outside(of, of.high)]
        wrong += [(of.auto, str(of.auto))] if of.can_be_auto else []
        wrong += [(None, "many"), (None, "")] + ([(None, "1.5")] if of.kind == "int" else [])
    else:
        wrong = [("magic", "magic")] if of.choices else []
    for value, text in wrong:
        option = written(of, value, suffix)
        if value == of.auto:
            option = f"--{(of.option or Option()).name}".format(suffix.replace("_", "-"))
        result = paceline("chat", "--prompt", "Hi", f"{option}={text}")
        assert (result.code, result.out) == (2, ""), result.err
        assert_one_clear_line(result)
        assert option in result.err
        assert " is , but" not in result.err
        if of.choices:
            names = ", ".join(of.offers)
            assert f"{option} cannot be “magic”. Choose one of {names}." in result.err
        elif value is not None and value != of.auto:
            with pytest.raises(ValueOutOfRangeError) as caught:
                of.check(value)
            assert of_range(result.err) == of_range(str(caught.value))


@pytest.mark.parametrize(("cls", "name"), [each for each in NUMBERS if each[0] is not ModelParams])
def test_presets_and_the_settings_file_refuse_in_the_same_words(
    cls: type, name: str, tmp_path: Path
) -> None:
    of, high = parameter(cls, name), parameter(cls, name).offered[1]
    for value in outside(of, high):
        settings = reply_settings(cls, name, value)
        with pytest.raises(ValueOutOfRangeError) as caught:
            check_settings(settings)
        assert number_words(high) in of_range(caught.value.message)
        item = json.loads(presets_to_text([ReplyPreset("Tutor")]))
        place = item["presets"][0]
        (place["sampling"] if cls is SamplingParams else place)[name] = value
        with pytest.raises(UserError) as refused:
            presets_from_text(json.dumps(item))
        assert caught.value.message in refused.value.message
        if value != of.low:  # what is only excluded has been kept before
            file = tmp_path / "settings.json"
            save_settings(file, Settings(reply_presets=(ReplyPreset("Tutor", settings),)))
            assert load_settings(file).settings == Settings()


@every_field
def test_every_value_comes_back_from_files(cls: type, name: str, tmp_path: Path) -> None:
    value = OTHER[cls][name]
    if cls is ModelParams:
        kept = Settings(pairs=(SavedPair(ModelParams("/m/a.gguf", **{name: value})),))
    else:
        settings = reply_settings(cls, name, value)
        kept = Settings(reply_presets=(ReplyPreset("Tutor", settings),))
        assert presets_from_text(presets_to_text(kept.reply_presets)) == kept.reply_presets
        chat = Conversation("c", settings=settings)
        assert from_json(json.loads(json.dumps(to_json(chat, {}))))[0].settings == settings
        record = RunRecord("m", sampling=settings.sampling, seed=settings.seed)
        assert record_from_json(record_to_json(record)).sampling == settings.sampling
    save_settings(tmp_path / "settings.json", kept)
    assert load_settings(tmp_path / "settings.json").settings == kept


@pytest.mark.parametrize(
    ("drafter", "of"),
    [(info.id, of) for info in available() if "." not in info.id for of in info.parameters],
    ids=lambda value: getattr(value, "name", value),
)
def test_drafters_refuse_their_settings_in_the_same_words(drafter: str, of: Parameter) -> None:
    wrong = [number_words(value).replace(",", "") for value in outside(of, of.high)]
    for text in (*wrong, "many", "", *(["1.5"] if of.kind == "int" else [])):
        with pytest.raises(ValueOutOfRangeError) as caught:
            parse_strategy(f"{drafter}:{of.name}={text}")
        assert caught.value.code == "bad-strategy"
        ends = f"from {number_words(of.low)} to {number_words(of.high)}"
        assert ends == of_range(caught.value.message).partition("number ")[2]
        assert f"{of.name} is {text or '“”'}, but" in caught.value.message
    automatic = f"{drafter}:{of.name}=auto"
    if of.can_be_auto:
        assert parse_strategy(automatic).is_controlled
    else:
        with pytest.raises(ValueOutOfRangeError):
            parse_strategy(automatic)


def as_given(of: Parameter, value: Any, suffix: str) -> list[str]:
    """Return the arguments that give a value."""
    option = written(of, value, suffix)
    if of.kind == "bool" or (of.option and of.option.flag and value == of.auto):
        return [option]
    match value:
        case tuple() if of.name == "logit_bias":
            return [f"{option}={bias.token}={bias.bias}" for bias in value]
        case tuple() if of.name == "stop":
            return [f"{option}={shown_stop(text)}" for text in value]
        case tuple():
            return [f"{option}={','.join(map(str, value))}"]
    return [f"{option}={value}"]


@pytest.mark.parametrize(("cls", "name", "suffix"), ON_THE_COMMAND_LINE)
def test_every_option_arrives_and_nothing_else(cls: type, name: str, suffix: str) -> None:
    value = OTHER[cls][name]
    arguments = as_given(parameter(cls, name), value, suffix)
    request = read_request(parse(["chat", "--prompt", "Hi", *arguments]), Paths.from_environment())
    turn, load = request.turn, request.load
    draft = params_of(load.drafting)
    assert draft is not None
    if cls is ModelParams:
        is_shared = name in ("flash_attn", "split_mode", "tensor_split", "main_gpu")
        for model, is_meant in ((load.target, is_shared or not suffix),
                                (draft, is_shared or suffix)):  # fmt: skip
            assert model == ModelParams(model.path, **({name: value} if is_meant else {}))
        assert turn.sampling == SamplingParams()
    else:
        settings = reply_settings(cls, name, value)
        assert turn.sampling == settings.sampling
        assert (turn.max_tokens, turn.seed, turn.stop) == (
            settings.max_tokens, settings.seed, settings.stop,
        )  # fmt: skip
        assert load.target == ModelParams(load.target.path)


@pytest.mark.parametrize("name", [name for _, name, suffix in ON_THE_COMMAND_LINE if suffix])
def test_options_of_a_draft_model_that_is_not_there_are_reported(
    name: str, target_path: Path
) -> None:
    (given,) = as_given(parameter(ModelParams, name), OTHER[ModelParams][name], "_draft")
    arguments = ["chat", "--prompt", "Hi", "--target", str(target_path), given]
    notes = read_request(parse(arguments), Paths.from_environment()).notes
    assert notes == (f"{given.partition('=')[0]} has no effect without a draft model.",)


def test_the_help_has_every_option_with_its_default() -> None:
    words = " ".join(paceline("chat", "--help").out.split())
    for cls, name, suffix in ON_THE_COMMAND_LINE:
        of = parameter(cls, name)
        option = of.option or Option()
        for each in filter(None, (option.flag, option.name or name)):
            if each is option.flag or of.kind != "bool":
                assert f"--{each}".format(suffix).replace("_", "-") in words
        if cls is SamplingParams and of.is_number:
            assert f"{of.help[1:-1]} (default: {of.default:g})" in words


def test_the_engine_knows_what_can_be_chosen() -> None:
    known = {"flash_attn": FLASH_ATTN, "kv_type_k": KV_TYPES, "kv_type_v": KV_TYPES,
             "split_mode": SPLIT_MODES}  # fmt: skip
    for name, numbers in known.items():
        of = parameter(ModelParams, name)
        assert {choice for choice, _ in of.choices if choice} == set(numbers)
        assert refusal(ModelParams("", **{name: "magic"})) == f"{of.title} cannot be “magic”."


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (SamplingParams(temperature=101),
         "Temperature is 101, but it must be a number from 0 to 100."),
        (SamplingParams(top_p=0), "Top-p is 0, but it must be a number above 0 and at most 1."),
        (ReplySettings(seed=2**63),
         "Seed is 9,223,372,036,854,775,808, but it must be a whole number from 0 to "
         "9,223,372,036,854,775,807."),
        (ModelParams("", n_threads=513),
         "Threads is 513, but it must be a whole number from 1 to 512."),
    ],
)  # fmt: skip
def test_a_refusal_in_full(values: Any, message: str) -> None:
    assert refusal(values) == message


@pytest.mark.parametrize("text", ["5", "=1", "x=1", "5=", "5=x", "-1=1", "1.5=1", "5=nan", "5=1=2"])
def test_a_logit_bias_that_is_none(text: str) -> None:
    with pytest.raises(ValueOutOfRangeError, match="is no"):
        read_bias(text)


@pytest.mark.parametrize("text", ["x", "-1", "1, nan", "inf", "0, 0", "3,,1", ",1"])
def test_shares_that_are_none(text: str) -> None:
    with pytest.raises(ValueOutOfRangeError, match="share"):
        read_shares(text)


def test_shares_are_read() -> None:
    assert read_shares("") == ()
    assert read_shares("3, 1.5,0") == (3.0, 1.5, 0.0)
    assert read_shares("3, 1, ") == (3.0, 1.0)


def test_files_of_the_version_before_are_read(tmp_path: Path) -> None:
    data = json.loads((KEPT / "settings.json").read_text("utf-8"))
    reply, target = data["reply_presets"][0]["settings"], data["pairs"][0]["target"]
    loaded = {name: OTHER[ModelParams][name] for name in target if name != "path"}
    assert {*reply, *reply["sampling"]} == {
        *OTHER[ReplySettings],
        *OTHER[SamplingParams],
        "sampling",
    }
    tutor = ReplyPreset("Tutor", OTHER_REPLY)
    pair = SavedPair(ModelParams("/m/a.gguf", **loaded), ModelParams("/m/b.gguf"))
    file = tmp_path / "settings.json"
    file.write_bytes((KEPT / "settings.json").read_bytes())
    assert load_settings(file).put_aside is None
    assert load_settings(file).settings == Settings(pairs=(pair,), reply_presets=(tutor,))
    assert presets_from_text((KEPT / "presets.json").read_text("utf-8")) == (tutor,)
