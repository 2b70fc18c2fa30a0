"""Conversion of conversations into token ids: templates, sandbox, sizes, and cutting to fit."""
