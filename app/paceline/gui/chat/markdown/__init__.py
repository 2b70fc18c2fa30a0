"""Markdown that grows, in text documents that know which token gave each character."""
