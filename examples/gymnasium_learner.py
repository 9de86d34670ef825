"""A learner that knows Gymnasium and nothing of interplay: Q-learning beside a panel of partners.

    pip install "interplay[pettingzoo]" ./examples/own_game
    python examples/gymnasium_learner.py --episodes 400

It learns the first seat of the relay with partners drawn from two scripted runners, a fast and a slow one, and then
plays with each of them as an agent of interplay.
"""

from __future__ import annotations

import argparse

import numpy as np

import interplay

PARTNERS = ["relay/runner", "relay/slow"]


def learn(env, episodes: int, seed: int, rate: float = 0.2, discount: float = 0.97) -> dict[bytes, np.ndarray]:
    """Tabular Q-learning.

    Args:
        env: Any Gymnasium environment with discrete actions and observations that repeat.
        episodes: Episodes to learn from; the first half explores more and more seldom.
        seed: Seed of exploration, and of the environment's first episode.
        rate: Learning rate.
        discount: Worth of a reward one step later.
    """
    chance, values = np.random.default_rng(seed), {}

    def of(seen) -> np.ndarray:
        return values.setdefault(
            np.asarray(seen).tobytes(), np.ones(env.action_space.n)
        )  # hopeful, so that it explores

    for episode in range(episodes):
        seen, _ = env.reset(seed=seed if episode == 0 else None)
        explore, over = max(0.02, 0.5 - episode / episodes), False
        while not over:
            random = chance.random() < explore
            action = int(chance.integers(env.action_space.n) if random else np.argmax(of(seen)))
            after, reward, terminated, truncated, _ = env.step(action)
            goal = float(reward) + discount * (0.0 if terminated else np.max(of(after)))
            of(seen)[action] += rate * (goal - of(seen)[action])
            seen, over = after, terminated or truncated
    return values


def main() -> None:
    """Learn, then play with each partner and print the scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    game = interplay.make("relay/line")
    values = learn(interplay.to_gymnasium(game, partners=PARTNERS, seat=0), given.episodes, given.seed)

    def choose(seen):
        return int(np.argmax(values.get(np.asarray(seen).tobytes(), np.zeros(4))))

    learned = interplay.FunctionPlayer(choose, encoding="vector", version=f"q-learning {given.episodes} {given.seed}")
    for partner in PARTNERS:
        traces = interplay.play(game, [learned, partner], episodes=5)
        print(f"with {partner}: {np.mean([row['score'] for row in traces.summary().rows]):.1f}")


if __name__ == "__main__":
    main()
