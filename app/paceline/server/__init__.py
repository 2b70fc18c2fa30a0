"""The endpoint: other programs ask the engine over HTTP, in the forms of APIs that they know."""
