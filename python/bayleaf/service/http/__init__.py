"""The service over HTTP: plain ASGI, one event loop."""
