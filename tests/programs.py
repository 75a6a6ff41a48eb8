"""Programs that might take their process down, run in one of their own."""

from __future__ import annotations

import subprocess
import sys


def run(program: str, timeout: int = 120) -> str:
    """What a program prints; it must end well."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=timeout, check=False
    )
    assert done.returncode == 0, f"{done.returncode}: {done.stderr[-2000:]}"
    return done.stdout.strip()
