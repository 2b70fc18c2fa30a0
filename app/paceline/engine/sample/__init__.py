"""Logits to one token: biases, penalties, grammar, truncation and coupled Gumbel noise."""
