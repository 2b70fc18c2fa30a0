"""Calls of tools in the forms of model families: description, grammar, reader and writer."""
