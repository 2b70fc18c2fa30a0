"""The benchmark that users run: a plan of replies, the runner, the summary and the report."""
