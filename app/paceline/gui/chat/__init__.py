"""The shown conversation, and the field for messages."""
