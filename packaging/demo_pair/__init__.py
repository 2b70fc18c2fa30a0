"""The recipe of the built-in demo pair, from the documentation's sources to two GGUF files."""
