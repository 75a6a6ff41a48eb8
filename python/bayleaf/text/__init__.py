"""Text: tokens, terms, integer counts of them, weights, scores."""
