"""GAMMA: generative agent modelling for multi-agent adaptation (Liang et al., 2024).

    Stage 1: a population (MEP's), whose members play with each other
    Stage 2: a variational autoencoder of what they did, max E[log p(a | o, z)] - κ KL(q(z | chunk) || N(0, I))
    Stage 3: max E_z J(π, p(. | ., z)) over partners that the decoder makes of z ~ N(0, I)

κ rises linearly. Of the models on the way the one with the best likelihood on episodes left out is kept among those
whose KL is below a cap, so that latents drawn from the prior act sensibly. A partner's latent is fixed, so that it
becomes part of the decoder's first bias and the partner is a policy like any other. Differences from the paper: the
encoder is a mean over a chunk's steps instead of a recurrent network, and an ego meets as many latents as `partners`
says instead of a new one in every episode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PyTree

from interplay.agents.api import Agent
from interplay.agents.basic import masked
from interplay.agents.networks import Core, Shape
from interplay.agents.neural import NeuralPolicy
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import make
from interplay.training.actor_critic import policy_shape
from interplay.training.algorithms import coplay, mep
from interplay.training.config import Algorithm, Experiment
from interplay.training.loader import method_options
from interplay.training.run import Trained

HELD_OUT = 0.1  # share of the episodes by which models are compared
LOOKS = 10  # models on the way that are compared


@dataclass(frozen=True)
class GAMMAOptions(coplay.PopulationOptions):
    """The population, the model of it, and the partners that are drawn from the model."""

    episodes: int = 1024  # of members with each other, recorded for the model
    partners: int = 32  # latents that an ego meets
    latent: int = 16  # numbers that tell partners apart
    chunk: int = 100  # steps that the encoder sees
    hidden: int = 256  # units of the encoder
    batch: int = 64  # chunks of an update
    updates: int = 20_000  # of the model
    learning_rate: float = 1e-3
    kl_weight: tuple[float, float] = (0.01, 1.0)  # κ at the start and at the end
    kl_cap: float = 32.0  # nats; a model above it is kept only if none is below

    def __post_init__(self) -> None:
        for name in ("episodes", "partners", "latent", "chunk", "hidden", "batch", "updates"):
            if getattr(self, name) < 1:
                raise InterplayError(f"algorithm.options.{name}: {getattr(self, name)}; at least 1")


class Recording(NamedTuple):
    """What members saw and did."""

    seen: Array  # [episode, step, seat, ...]
    actions: Int[Array, "episode step seat"]


class GAMMAPartnerModel(eqx.Module):
    """An encoder of what somebody did, and a decoder that acts by a latent."""

    first: eqx.nn.Linear
    last: eqx.nn.Linear
    decoder: Core

    def __init__(self, shape: Shape, options: GAMMAOptions, key: Array):
        inputs = int(np.prod(shape.input)) + shape.outputs
        keys = jax.random.split(key, 3)
        self.first = eqx.nn.Linear(inputs, options.hidden, key=keys[0])
        self.last = eqx.nn.Linear(options.hidden, 2 * options.latent, key=keys[1])
        self.decoder = Core(replace(shape, extra=options.latent), 0.01, keys[2])

    def encode(
        self, seen: Array, actions: Int[Array, " step"]
    ) -> tuple[Float[Array, " latent"], Float[Array, " latent"]]:
        """Return mean and log variance of the latent of a chunk."""
        flat = seen.reshape(len(seen), -1).astype(jnp.float32)
        steps = jnp.concatenate([flat, jax.nn.one_hot(actions, self.decoder.shape.outputs)], axis=-1)
        mean, log_variance = jnp.split(self.last(jnp.mean(jax.nn.relu(jax.vmap(self.first)(steps)), axis=0)), 2)
        return mean, jnp.clip(log_variance, -8.0, 8.0)

    def losses(self, seen: Array, actions: Int[Array, " step"], key: Array) -> tuple[Array, Array]:
        """Return the cross-entropy of a step and the KL of the latent."""
        mean, log_variance = self.encode(seen, actions)
        z = mean + jnp.exp(log_variance / 2) * jax.random.normal(key, mean.shape)
        logits = jax.vmap(lambda o: self.decoder.step(self.decoder.start(), o, z)[1])(seen)
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), actions[:, None], axis=1)
        return -jnp.mean(chosen), 0.5 * jnp.sum(jnp.exp(log_variance) + mean**2 - 1 - log_variance)


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train all stages, an ego a run."""
    options = method_options(GAMMAOptions, experiment)
    return coplay.train_egos(experiment, populations(experiment, quiet=quiet), options, quiet=quiet)


def populations(experiment: Experiment, *, stage: str = "", quiet: bool = False) -> list[coplay.Population]:
    """Return the generated partners of each ego, each from a model of a population of its own."""
    options = method_options(GAMMAOptions, experiment)
    if experiment.network.recurrent and not options.population_from:
        raise InterplayError("gamma records members without memory; give population_from with a recurrent ego")
    names = ("population", "population_steps", "population_envs", "population_from", "shared", "snapshots")
    own = replace(experiment, algorithm=Algorithm("mep", {name: getattr(options, name) for name in names}))
    game, result = make(experiment.game.name, **experiment.game.options), []
    for number, one in enumerate(mep.populations(own, stage=stage, quiet=quiet)):
        key = jax.random.fold_in(jax.random.key(experiment.seed), number)
        agents, notes = generated_partners(game, one.agents, experiment, options, key)
        result.append(coplay.Population(agents, notes=dict(one.notes) | notes))
    return result


def generated_partners(
    game: Game, members: Sequence[Agent], experiment: Experiment, options: GAMMAOptions, key: Array
) -> tuple[list[Agent], dict[str, float]]:
    """Return partners drawn from a model of these members, and how good the model is, as notes."""
    keys = jax.random.split(key, 3)
    encoding = experiment.network.encoding
    shape = policy_shape(game, replace(experiment.network, recurrent=0))
    recorded = record(game, members, encoding, options.episodes, keys[0])
    model, entropy, divergence = fit(shape, recorded, options, keys[1])
    latents = jax.random.normal(keys[2], (options.partners, options.latent))
    agents = [
        Agent(f"z{number}", NeuralPolicy(partner_of(model, z), encoding), {"game": game.id})
        for number, z in enumerate(latents)
    ]
    return agents, {"model_cross_entropy": round(entropy, 4), "model_kl": round(divergence, 3)}


def partner_of(model: GAMMAPartnerModel, z: Float[Array, " latent"]) -> Core:
    """Return the decoder with a fixed latent: what the latent adds to the first layer joins its bias."""
    first = model.decoder.trunk.layers[0]
    size = first.weight.shape[0] - len(z)
    fixed = eqx.tree_at(
        lambda d: (d.weight, d.bias), first, (first.weight[:size], first.bias + z @ first.weight[size:])
    )
    core = eqx.tree_at(lambda c: c.trunk.layers[0], model.decoder, fixed)
    plain = Core(replace(model.decoder.shape, extra=0), 0.01, jax.random.key(0))
    leaves = jax.tree.leaves(eqx.filter(core, eqx.is_array))
    arrays, static = eqx.partition(plain, eqx.is_array)
    return eqx.combine(jax.tree.unflatten(jax.tree.structure(arrays), leaves), static)


def record(game: Game, members: Sequence[Agent], encoding: str, episodes: int, key: Array) -> Recording:
    """Let random pairs of members play, and keep what every seat saw and did."""
    cores = [member.policy.core for member in members]  # type: ignore[union-attr]
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *cores)
    pairs = jax.random.randint(key, (episodes, game.num_seats), 0, len(members))

    def episode(key: Array, pair: Array) -> tuple[Array, Array]:
        team = jax.tree.map(lambda x: x[pair], stacked)

        def step(state: PyTree, key: Array) -> tuple[Any, tuple[Array, Array]]:
            seen, legal = game.observe(state, encoding), game.legal(state)
            logits = jax.vmap(lambda c, o: c.step(c.start(), o)[1])(team, seen)
            actions = jax.random.categorical(key, jax.vmap(masked)(logits, legal))
            return game.step(state, actions, key)[0], (seen, actions)

        start, *steps = jax.random.split(key, game.horizon + 1)
        return jax.lax.scan(step, game.init(start), jnp.stack(steps))[1]

    seen, actions = jax.jit(jax.vmap(episode))(jax.random.split(jax.random.fold_in(key, 1), episodes), pairs)
    return Recording(seen, actions)


def fit(shape: Shape, recorded: Recording, options: GAMMAOptions, key: Array) -> tuple[GAMMAPartnerModel, float, float]:
    """Fit the model; return the best on episodes left out, with its cross-entropy and KL there."""
    out = max(1, int(HELD_OUT * len(recorded.actions)))
    tuning = Recording(recorded.seen[:out], recorded.actions[:out])
    fitting = Recording(recorded.seen[out:], recorded.actions[out:]) if len(recorded.actions) > out else tuning
    model = GAMMAPartnerModel(shape, options, key)
    optimiser = optax.adam(options.learning_rate)
    chunk = min(options.chunk, recorded.actions.shape[1])

    def mean_losses(model: GAMMAPartnerModel, data: Recording, key: Array) -> tuple[Array, Array]:
        keys = jax.random.split(key, 4)
        many, steps, seats = data.actions.shape

        def draw(key: Array, most: int) -> Array:
            return jax.random.randint(key, (options.batch,), 0, most)

        chosen, starts, whose = draw(keys[0], many), draw(keys[1], steps - chunk + 1), draw(keys[2], seats)

        def one(episode: Array, start: Array, seat: Array, key: Array) -> tuple[Array, Array]:
            seen = jax.lax.dynamic_slice_in_dim(data.seen[episode, :, seat], start, chunk)
            return model.losses(seen, jax.lax.dynamic_slice_in_dim(data.actions[episode, :, seat], start, chunk), key)

        entropy, divergence = jax.vmap(one)(chosen, starts, whose, jax.random.split(keys[3], options.batch))
        return jnp.mean(entropy), jnp.mean(divergence)

    @eqx.filter_jit
    def some_updates(model: GAMMAPartnerModel, state: PyTree, first: Array, data: Recording, key: Array) -> PyTree:
        arrays, static = eqx.partition(model, eqx.is_array)

        def update(carry: PyTree, number: Array) -> tuple[Any, None]:
            arrays, state = carry
            low, high = options.kl_weight
            weight = low + (high - low) * number / options.updates

            def loss(arrays: PyTree) -> Array:
                whole = eqx.combine(arrays, static)
                entropy, divergence = mean_losses(whole, data, jax.random.fold_in(key, number))
                return entropy + weight * divergence / chunk

            change, state = optimiser.update(jax.grad(loss)(arrays), state)
            return (optax.apply_updates(arrays, change), state), None

        numbers = first + jnp.arange(max(1, options.updates // LOOKS))
        (arrays, state), _ = jax.lax.scan(update, (arrays, state), numbers)
        return eqx.combine(arrays, static), state

    looked = eqx.filter_jit(mean_losses)
    state, seen_models = optimiser.init(eqx.filter(model, eqx.is_array)), []
    for look in range(LOOKS):
        first = jnp.int32(look * max(1, options.updates // LOOKS))
        model, state = some_updates(model, state, first, fitting, jax.random.fold_in(key, 1))
        entropy, divergence = (float(v) for v in looked(model, tuning, jax.random.fold_in(key, 2)))
        seen_models.append((divergence > options.kl_cap, entropy, divergence, model))
    _, entropy, divergence, best = min(seen_models, key=lambda one: one[:2])
    return best, entropy, divergence
