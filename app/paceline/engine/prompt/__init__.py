"""From a conversation to token ids: template, sandbox, size, and what does not fit."""
