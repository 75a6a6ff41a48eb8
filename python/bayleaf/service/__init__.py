"""A filter that runs for years: models that answer, learn and forget over HTTP and SPAMD."""
