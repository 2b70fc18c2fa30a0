"""Schemas that are lowered, and what their grammars allow."""
