"""The list of chats: search, tags, export and import."""
