"""Emphasis beside scripts without blanks is what was meant; elsewhere it is CommonMark's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from paceline.chat.exchange.page_text import PageText, TokenSpans
from paceline.chat.markdown import make_parser


def rendered(text: str) -> str:
    return str(make_parser().render(text)).strip()


def inline(text: str) -> str:
    return rendered(text).removeprefix("<p>").removesuffix("</p>")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**重要：**请注意。这是**“引用”**文字。", "[重要：]请注意。这是[“引用”]文字。"),
        ("他说**「你好」**。", "他说[「你好」]。"),
        ("これは**「重要」**です。", "これは[「重要」]です。"),
        ("**模型:**Qwen", "[模型:]Qwen"),
        ("Qwen**（模型）**と", "Qwen[（模型）]と"),
        ("使用**`ls`：**列出", "使用[<code>ls</code>：]列出"),
        ("__重要：__请注意，他说__「你好」__。", "[重要：]请注意，他说[「你好」]。"),
        ('**"중요"**는', "[&quot;중요&quot;]는"),
        ('คำว่า**"สำคัญ"**มาก', "คำว่า[&quot;สำคัญ&quot;]มาก"),
        ("**សំខាន់៖**អាន", "[សំខាន់៖]អាន"),
        ("是\u200b**“引用”**\u200b文", "是\u200b[“引用”]\u200b文"),
    ],
)
def test_bold_is_as_it_was_meant(text: str, shown: str) -> None:
    assert inline(text) == shown.replace("[", "<strong>").replace("]", "</strong>")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("这是*「斜」*体", "这是<em>「斜」</em>体"),
        ("~~旧：~~新", "<s>旧：</s>新"),
        ("***重要：***请", "<em><strong>重要：</strong></em>请"),
        ("**先*「中」*后：**完", "<strong>先<em>「中」</em>后：</strong>完"),
        ("[见**“书”**页](https://a.org)", '<a href="https://a.org">见<strong>“书”</strong>页</a>'),
    ],
)
def test_other_marks_and_nested_ones(text: str, shown: str) -> None:
    assert inline(text) == shown


@pytest.mark.parametrize("frame", ["# {}", "- {}", "1. {}", "> {}", "| {} | b |\n|---|---|\n"])
def test_it_holds_in_every_block_of_the_window_and_of_a_page(frame: str) -> None:
    text = frame.format("**注意：**请看**「这里」**吧")
    assert "<strong>注意：</strong>请看<strong>「这里」</strong>吧" in rendered(text)
    page = PageText(TokenSpans(), lambda _span: "")
    page.markdown(text, 0)
    assert "<strong>注意：</strong>请看<strong>「这里」</strong>吧" in "".join(page.out)


@pytest.mark.parametrize(
    "text",
    ["**Warning:**text", 'a**"b"**c', "a**😀**b", "snake_case_name", "使用__init__方法", "长 * 宽"],
)
def test_what_is_no_emphasis_stays_as_it_is(text: str) -> None:
    assert inline(text).replace("&quot;", '"') == text


COMMON = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


@given(st.text("**_~ab1 .,:!\"'()-“”’…é€😀😀ж\u05d0\u0627\n", max_size=40))
def test_without_such_scripts_it_is_commonmark(text: str) -> None:
    assert rendered(text) == str(COMMON.render(text)).strip()


UNSPACED = st.text("中文字かなカ가나ไทยລາວមខ「」（）：。，！？、・", min_size=1, max_size=4)
ANY = st.text("中「」：。ab1 .,:\"'()?!“”…é😀", min_size=1, max_size=8).filter(
    lambda text: text == text.strip()
)


@given(UNSPACED, ANY, UNSPACED, st.sampled_from((("**", "strong"), ("*", "em"), ("~~", "s"))))
def test_marks_between_such_letters_are_emphasis(
    before: str, within: str, after: str, mark: tuple[str, str]
) -> None:
    sign, tag = mark
    shown = within.replace('"', "&quot;")
    text = f"{before}{sign}{within}{sign}{after}"
    assert inline(text) == f"{before}<{tag}>{shown}</{tag}>{after}"


@given(ANY, st.sampled_from("：。」）！"), st.text("ab1", min_size=1, max_size=3))
def test_their_punctuation_closes_before_any_letter(within: str, sign: str, after: str) -> None:
    shown = within.replace('"', "&quot;")
    assert inline(f"**{within}{sign}**{after}") == f"<strong>{shown}{sign}</strong>{after}"
