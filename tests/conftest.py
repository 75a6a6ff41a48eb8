"""The settings of Hypothesis, for every file."""

from hypothesis import settings

# How long an example takes says more about the machine than about bayleaf.
settings.register_profile("bayleaf", deadline=None, max_examples=60)
settings.load_profile("bayleaf")
