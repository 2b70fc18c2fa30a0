"""The use cases of a chat: load a pair, send, regenerate, stop. No Qt, no files, no widgets."""
