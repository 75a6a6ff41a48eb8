"""Drop-ins for scikit-learn's naive Bayes: classifiers of a feature matrix, and `TextCounter`.

Parameters, attributes and numbers are those of scikit-learn 1.9.
"""

from bayleaf.matrix.categorical import CategoricalNB
from bayleaf.matrix.continuous import GaussianNB, KernelNB
from bayleaf.matrix.discrete import BernoulliNB, ComplementNB, MultinomialNB

__all__ = ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "KernelNB", "MultinomialNB"]
