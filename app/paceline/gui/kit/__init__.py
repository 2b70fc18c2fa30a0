"""Parts that any window could be made of; they know nothing of models and chats."""
