"""Columns of categories and numbers: counts and moments of them, densities, scores."""
