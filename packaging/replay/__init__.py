"""Parts of `bench_replay`: a reply made up from a seed, and an engine that plays it back."""
