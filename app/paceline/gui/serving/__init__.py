"""Other programs: the server in the window, its page of settings, its light and its list."""
