"""Grammars of GBNF and of parts, as llguidance takes them."""
