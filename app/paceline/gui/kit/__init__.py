"""General parts for any window; they know nothing of models and chats."""
