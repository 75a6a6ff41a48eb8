"""The former path of `bayleaf.matrix`, kept working."""

from bayleaf.matrix import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, KernelNB, MultinomialNB

__all__ = ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "KernelNB", "MultinomialNB"]
