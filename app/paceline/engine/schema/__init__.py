"""Lowering of JSON schemas to what the grammar library enforces exactly, or their refusal."""
