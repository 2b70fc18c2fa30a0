"""The user's chats on disk: one SQLite database, written by a thread of its own. No Qt."""
