"""Chats as other programs export them, one module per program."""
