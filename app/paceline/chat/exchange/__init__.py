"""Chats as files: Markdown, HTML and JSON out, JSON in. Pure functions, no Qt, any thread."""
