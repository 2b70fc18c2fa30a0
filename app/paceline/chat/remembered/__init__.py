"""Stored chats in the engine: their texts and states, kept in step with deletions."""
