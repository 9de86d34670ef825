"""Coordination methods: each is one short file that says who plays with whom and what is paid."""

from __future__ import annotations

from interplay.registry import Registry
from interplay.training.config import Experiment
from interplay.training.run import Trained

ALGORITHMS = Registry(
    "algorithm",
    entry_points="interplay.algorithms",
    table={
        "sp": "interplay.training.algorithms.sp:train",
        "separate": "interplay.training.algorithms.sp:train_separate",
        "bc": "interplay.training.algorithms.bc:train",
        "br": "interplay.training.algorithms.br:train",
        "fcp": "interplay.training.algorithms.fcp:train",
        "cole": "interplay.training.algorithms.cole:train",
        "e3t": "interplay.training.algorithms.e3t:train",
        "hsp": "interplay.training.algorithms.hsp:train",
        "hsp_pairs": "interplay.training.algorithms.hsp:train_pairs",
        "mep": "interplay.training.algorithms.mep:train",
        "mep_population": "interplay.training.algorithms.mep:train_population",
        "trajedi": "interplay.training.algorithms.trajedi:train",
        "trajedi_population": "interplay.training.algorithms.trajedi:train_population",
    },
)


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train as the configuration says; gives what its last stage gave."""
    return ALGORITHMS.load(experiment.algorithm.name)(experiment, quiet=quiet)
