"""The command palette: one field that finds every command, chat, strategy and pair."""
