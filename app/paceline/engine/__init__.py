"""The engine: loads a pair, speculates, and tells what it did. No Qt, no network, no chats."""
