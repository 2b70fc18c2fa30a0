"""Service for other programs: the server in the window, its page of settings, light and list."""
