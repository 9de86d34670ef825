"""What follows from an estimate with a standard error: tests, equivalence, Bayes factors, corrections."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from interplay.errors import InterplayError

PRIOR_WIDTH = math.sqrt(2) / 2  # of the Cauchy prior of a standardised effect, the usual "medium" choice


@dataclass(frozen=True)
class Equivalence:
    """Tests against a margin: whether an estimate lies within it, and whether it is not below its lower end."""

    margin: float
    p: float  # of the two one-sided tests: small where the effect lies within the margin on both sides
    p_not_worse: float  # non-inferiority: small where the effect is above -margin
    low: float  # the interval at twice the level; equivalence at `alpha` is this one within the margin
    high: float


@dataclass(frozen=True)
class BayesFactor:
    """How much more likely the data are under an effect than under none, and the posterior of the effect."""

    bf10: float
    scale: float  # half of the prior's mass lies within this many units of 0
    mean: float
    low: float  # central 95 % of the posterior
    high: float
    p_positive: float  # posterior probability of an effect above 0


@dataclass(frozen=True)
class Estimate:
    """A linear combination of fixed effects, with its t test."""

    estimate: float
    se: float
    df: float
    level: float = 0.95

    @property
    def t(self) -> float:
        """Estimate over standard error."""
        return self.estimate / self.se if self.se > 0 else math.copysign(math.inf, self.estimate)

    @property
    def p(self) -> float:
        """Two-sided p value."""
        return 2 * self._below(-abs(self.t))

    @property
    def low(self) -> float:
        """Lower end of the confidence interval."""
        return self.estimate - self._quantile((1 + self.level) / 2) * self.se

    @property
    def high(self) -> float:
        """Upper end of the confidence interval."""
        return self.estimate + self._quantile((1 + self.level) / 2) * self.se

    def equivalence(self, margin: float, *, alpha: float = 0.05) -> Equivalence:
        """Test whether the effect is within a margin around 0 (TOST), and whether it is not below its lower end.

        Raises:
            InterplayError: The margin is not above 0.
        """
        if not margin > 0:
            raise InterplayError(f"margin {margin}: the largest difference that does not matter, above 0")
        above = self._below(-(self.estimate + margin) / self.se)  # of the null that the effect is at most -margin
        below = self._below((self.estimate - margin) / self.se)
        half = self._quantile(1 - alpha) * self.se
        return Equivalence(margin, max(above, below), above, self.estimate - half, self.estimate + half)

    def bayes(self, scale: float, *, width: float = PRIOR_WIDTH) -> BayesFactor:
        """Compare an effect with a Cauchy prior to no effect, with the likelihood of the effect taken as Student's.

        Args:
            scale: One standard deviation of what the effect is measured in, so that the effect over it is standardised.
            width: Of the prior in standard deviations.

        Raises:
            InterplayError: The scale is not above 0.
        """
        if not scale > 0:
            raise InterplayError(f"scale {scale}: a standard deviation, above 0")
        wide = width * scale
        # A grid that is fine at the likelihood and at 0, and reaches far into the prior's tails.
        around = np.tan(np.linspace(-1, 1, 501) * (math.pi / 2 - 1e-4))
        grid = np.sort(np.concatenate([self.estimate + self.se * around, wide * around]))
        df = min(self.df, 1e6)
        likelihood = np.exp(-(df + 1) / 2 * np.log1p(((self.estimate - grid) / self.se) ** 2 / df))
        none = math.exp(-(df + 1) / 2 * math.log1p(self.t**2 / df))
        density = likelihood / (math.pi * wide * (1 + (grid / wide) ** 2))
        mass = np.diff(grid) * (density[1:] + density[:-1]) / 2
        total = float(mass.sum())
        share = np.concatenate([[0.0], np.cumsum(mass)]) / total
        middle = (grid[1:] + grid[:-1]) / 2
        low, high = (float(np.interp(q, share, grid)) for q in (0.025, 0.975))
        positive = 1 - float(np.interp(0.0, grid, share))
        bf = total / none if none > 0 else math.inf
        return BayesFactor(bf, wide, float(mass @ middle / total), low, high, positive)

    def _below(self, t: float) -> float:
        from scipy.special import ndtr, stdtr

        return float(stdtr(self.df, t)) if self.df < 1e6 else float(ndtr(t))

    def _quantile(self, q: float) -> float:
        from scipy.special import ndtri, stdtrit

        return float(stdtrit(self.df, q)) if self.df < 1e6 else float(ndtri(q))


@dataclass(frozen=True)
class JointTest:
    """An F test that several combinations of fixed effects are all 0."""

    f: float
    df1: int
    df2: float

    @property
    def p(self) -> float:
        """The p value."""
        from scipy.special import chdtrc, fdtrc

        if self.df2 >= 1e6:
            return float(chdtrc(self.df1, self.df1 * self.f))
        return float(fdtrc(self.df1, self.df2, self.f))
