"""What benchmarks compare by turns: versions and programs, each in a process of its own."""
