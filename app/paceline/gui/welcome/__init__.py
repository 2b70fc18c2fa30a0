"""The page of an empty chat: a recorded example at first, and questions to start with."""
