"""Paceline: chat with local language models, made fast by speculative decoding."""

__version__ = "0.1.0"
