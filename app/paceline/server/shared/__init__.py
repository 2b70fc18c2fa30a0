"""Parts that the routes of several APIs have in common."""
