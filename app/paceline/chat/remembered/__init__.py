"""What the engine knows of stored chats, and how it hears of what is deleted."""
