"""The chats that the pair learns, built from the documentation."""
