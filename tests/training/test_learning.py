"""Memory, learnt: what is no longer seen is recalled."""

from interplay.training.algorithms import sp


def test_memory_recalls_what_is_no_longer_seen(experiment):
    """A point for each seat that names, in the last step, the cue of the first; by chance, one point in all."""
    faster = {"learning_rate": ((0.0, 2e-2),)}
    given = experiment("Recall", network={"recurrent": 8}, ppo=faster, steps=16 * 8 * 60)
    assert sp.train(given, quiet=True).curve[-1]["return"] > 1.8
