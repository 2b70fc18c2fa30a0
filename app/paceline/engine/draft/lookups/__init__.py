"""Drafters without a model: they look up what followed the same tokens before."""
