"""What is judged on documents left out of the counts: tuning, leave-one-out scores, suspects, smoothing.

Answers of a tuned model need a small part of this folder, so the rest (`tune.py` and what it imports) is
imported when one of its names is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayleaf.tuning.held_out import Progress
    from bayleaf.tuning.judgment import Judgment
    from bayleaf.tuning.leave_one_out import Suspect
    from bayleaf.tuning.tune import (
        ALPHAS,
        FEW,
        Tuning,
        check_level,
        check_tuning,
        choose_alpha,
        default_views,
        judged,
        loo_log_joint,
        suspects,
        worth_tuning,
    )

__all__ = [
    "ALPHAS",
    "FEW",
    "Judgment",
    "Progress",
    "Suspect",
    "Tuning",
    "check_level",
    "check_tuning",
    "choose_alpha",
    "default_views",
    "judged",
    "loo_log_joint",
    "suspects",
    "worth_tuning",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'bayleaf.tuning' has no attribute {name!r}")
    from bayleaf.tuning import tune

    return getattr(tune, name)
