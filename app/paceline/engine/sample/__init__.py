"""Sampling of tokens from logits: biases, penalties, grammar, truncation, coupled Gumbel noise."""
