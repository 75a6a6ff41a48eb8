"""The page on top of the service: teach a classifier with one key, look after it, take it away."""
