"""Single messages: what the user wrote, replies, and what can be done with them."""
