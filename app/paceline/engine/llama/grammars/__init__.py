"""Compilation of grammars, from GBNF and from parts, to llguidance's notation."""
