"""Single messages: the user's, replies, and actions on them."""
