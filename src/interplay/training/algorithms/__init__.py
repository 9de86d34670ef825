"""Coordination methods, one file each: who plays with whom, and what is rewarded."""

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
        "anyplay": "interplay.training.algorithms.anyplay:train",
        "br_bc": "interplay.training.algorithms.br_bc:train",
        "brdiv": "interplay.training.algorithms.brdiv:train",
        "brdiv_population": "interplay.training.algorithms.brdiv:train_population",
        "br": "interplay.training.algorithms.br:train",
        "fcp": "interplay.training.algorithms.fcp:train",
        "comedi": "interplay.training.algorithms.comedi:train",
        "comedi_population": "interplay.training.algorithms.comedi:train_population",
        "coplay": "interplay.training.algorithms.coplay:train",
        "cole": "interplay.training.algorithms.cole:train",
        "e3t": "interplay.training.algorithms.e3t:train",
        "gamma": "interplay.training.algorithms.gamma:train",
        "hdr": "interplay.training.algorithms.hdr:train",
        "hsp": "interplay.training.algorithms.hsp:train",
        "hsp_pairs": "interplay.training.algorithms.hsp:train_pairs",
        "lbrdiv": "interplay.training.algorithms.brdiv:train_lagrange",
        "lbrdiv_population": "interplay.training.algorithms.brdiv:train_lagrange_population",
        "mep": "interplay.training.algorithms.mep:train",
        "mep_population": "interplay.training.algorithms.mep:train_population",
        "metric_rewards": "interplay.training.algorithms.metric_rewards:train",
        "obl": "interplay.training.algorithms.obl:train",
        "obl_belief": "interplay.training.algorithms.obl_belief:train",
        "op": "interplay.training.algorithms.op:train",
        "rotate": "interplay.training.algorithms.rotate:train",
        "trajedi": "interplay.training.algorithms.trajedi:train",
        "trajedi_population": "interplay.training.algorithms.trajedi:train_population",
    },
)


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train as the configuration says, and return the result of the last stage."""
    return ALGORITHMS.load(experiment.algorithm.name)(experiment, quiet=quiet)
