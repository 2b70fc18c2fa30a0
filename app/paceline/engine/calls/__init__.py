"""Calls of tools as model families write them: a family's signs, grammar, reader and writer."""
