"""Chemistry: formulas of mhchem become LaTeX, and other text stays unchanged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.chat.syntax.chemistry import as_latex


def plain(latex: str | None) -> str:
    """The LaTeX without upright letters."""
    assert latex is not None
    return latex.replace(r"\mathrm", "")


@pytest.mark.parametrize(
    ("written", "latex"),
    [
        ("H2O", "{H}_{2}{O}"),
        ("2H2 + O2 -> 2H2O", r"2\,{H}_{2}+{O}_{2}\rightarrow 2\,{H}_{2}{O}"),
        ("N2 + 3H2 <=> 2NH3", r"{N}_{2}+3\,{H}_{2}\rightleftharpoons 2\,{N}{H}_{3}"),
        ("1/2 O2", r"1/2\,{O}_{2}"),
        ("Na+", "{Na}^{+}"),
        ("OH-", "{O}{H}^{{-}}"),
        ("SO4^2-", "{S}{O}_{4}^{2-}"),
        ("Fe^{3+}", "{Fe}^{3+}"),
        ("^{14}C", "^{14}{C}"),
        ("[Fe(CN)6]^4-", "[{Fe}({C}{N})_{6}]^{4-}"),
        ("CuSO4*5H2O", r"{Cu}{S}{O}_{4}\cdot 5\,{H}_{2}{O}"),
        ("H2C=CH2", "{H}_{2}{C}{=}{C}{H}_{2}"),
        ("CH3-OH", "{C}{H}_{3}{-}{O}{H}"),
        ("HC#CH", r"{H}{C}{\equiv}{C}{H}"),
        ("NaCl(aq)", "{Na}{Cl}{(aq)}"),
        ("AgCl v + CO2 ^", r"{Ag}{Cl}\downarrow +{C}{O}_{2}\uparrow "),
        ("vO", "{v}{O}"),
        ("A ->[heat] B", r"{A}\xrightarrow{\text{heat}}{B}"),
    ],
)
def test_what_is_written_of_substances(written: str, latex: str) -> None:
    assert plain(as_latex(written)) == latex


@pytest.mark.parametrize(
    "written", ["", " ", r"\foo", "$x$", "C_nH_{2n}", "A <=>[x] B", "A ->[heat][cat] B", "A^", "{}"]
)
def test_what_is_no_chemistry(written: str) -> None:
    assert as_latex(written) is None


@given(st.text(alphabet="HO23^_{}[]()+-=#<>.* ", max_size=30))
def test_groups_are_closed_and_nothing_is_lost(written: str) -> None:
    latex = as_latex(written)
    if latex is not None:
        assert latex.count("{") == latex.count("}")
        one, other = ([char for char in text if char in "HO23"] for text in (written, latex))
        assert one == other
