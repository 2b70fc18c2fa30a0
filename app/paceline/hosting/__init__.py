"""Host of the engine, on a thread or in a process of its own; one client for both."""
