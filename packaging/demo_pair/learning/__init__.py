"""From chats to weights: tokens, networks, training, and the files that hold the result."""
