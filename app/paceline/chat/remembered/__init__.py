"""The engine's knowledge of stored chats, which hears of what is deleted."""
