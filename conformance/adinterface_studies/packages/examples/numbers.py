"""Numbers that examples have in common: none of them special."""

from __future__ import annotations

import numpy as np

_random = np.random.default_rng(2026)

X = np.array([0.31, 0.87, 1.42, 2.03])
Y = np.array([0.54, 0.22, 1.13, 1.71])
POSITIVE = np.array([0.4, 1.32, 2.25, 0.87, 1.71])
UNIT = np.array([0.12, 0.35, 0.61, 0.83])
SHARES = np.array([0.1, 0.25, 0.3, 0.35])
SERIES = np.cumsum(_random.normal(size=24)) * 0.3 + 0.1 * np.arange(24)
NOISE = _random.normal(size=24)
ROWS = _random.normal(size=(6, 3))
OTHER_ROWS = _random.normal(size=(5, 3))
TABLE = _random.normal(size=(12, 3))
SQUARE = _random.normal(size=(3, 3)) + 3 * np.eye(3)
SYMMETRIC = SQUARE @ SQUARE.T / 3 + np.eye(3)
TARGETS = _random.normal(size=12)
GUESSES = TARGETS + 0.3 * _random.normal(size=12)
LABELS = np.array([0, 1, 1, 0, 1, 0, 2, 2, 1, 0, 2, 1])
