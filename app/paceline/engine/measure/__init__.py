"""What is measured on this machine: costs of decodes, threads, self-test; kept as facts."""
