"""Protocols of models and their library, contexts, and stored states; no native code in here."""
