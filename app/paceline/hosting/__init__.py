"""Where the engine runs: inline, in a thread, in a process; the same client for each."""
