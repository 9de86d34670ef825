"""Networks as the authors of other frameworks build them, to make files for the tests."""

from __future__ import annotations

import functools
from types import SimpleNamespace

import flax.linen as nn
import jax
import jax.numpy as jnp


class ScannedRNN(nn.Module):
    """JaxMARL's recurrent part: a GRU over time whose state is reset where an episode ended."""

    @functools.partial(
        nn.scan, variable_broadcast="params", in_axes=0, out_axes=0, split_rngs={"params": False}
    )  # fmt: skip
    @nn.compact
    def __call__(self, carry, x):
        ins, resets = x
        carry = jnp.where(resets[:, None], jnp.zeros_like(carry), carry)
        return nn.GRUCell(features=carry.shape[-1])(carry, ins)


class PictureNetwork(nn.Module):
    """The convolutions in front of JaxMARL's Overcooked networks; with norms as in PQN."""

    norms: bool = False
    dense: bool = True

    @nn.compact
    def __call__(self, x):
        for size in (5, 3, 3):
            x = nn.Conv(8, (size, size))(x)
            x = nn.relu(nn.LayerNorm()(x) if self.norms else x)
        x = x.reshape((x.shape[0], -1))
        return nn.relu(nn.Dense(16)(x)) if self.dense else x


def named_cnn(**options) -> nn.Module:
    """The class is called CNN in JaxMARL, which is what its parameters are named after."""
    return type("CNN", (PictureNetwork,), {"__annotations__": {}})(**options)


def head(x, sizes, activation=nn.relu):
    """Dense layers in the order in which they are called, which is what flax numbers them by."""
    for size in sizes[:-1]:
        x = activation(nn.Dense(size)(x))
    return nn.Dense(sizes[-1])(x)


class ActorCriticCNN(nn.Module):
    actions: int = 6

    @nn.compact
    def __call__(self, x):
        embedding = named_cnn()(x)
        logits = head(embedding, (16, self.actions))
        value = head(embedding, (16, 1))
        return SimpleNamespace(logits=logits), value[..., 0]


class ActorCritic(nn.Module):
    """Separate layers for actor and critic, tanh."""

    actions: int = 6

    @nn.compact
    def __call__(self, x):
        logits = head(x, (16, 16, self.actions), nn.tanh)
        value = head(x, (16, 16, 1), nn.tanh)
        return SimpleNamespace(logits=logits), value[..., 0]


class ActorCriticRNN(nn.Module):
    """Dense, GRU, dense, dense; the critic shares the memory."""

    actions: int = 6
    activation: str = "relu"

    @nn.compact
    def __call__(self, hidden, x):
        act = getattr(nn, self.activation)
        obs, dones = x
        embedding = act(nn.Dense(16)(obs))
        hidden, embedding = ScannedRNN()(hidden, (embedding, dones))
        logits = head(embedding, (16, self.actions), act)
        value = head(embedding, (16, 1), act)
        return hidden, SimpleNamespace(logits=logits), value[..., 0]


class ActorCriticCNNRNN(nn.Module):
    """JaxMARL's network for Overcooked V2: convolutions, a norm, a GRU, dense layers."""

    actions: int = 6

    @nn.compact
    def __call__(self, hidden, x):
        obs, dones = x
        embedding = jax.vmap(named_cnn())(obs)
        embedding = nn.LayerNorm()(embedding)
        hidden, embedding = ScannedRNN()(hidden, (embedding, dones))
        logits = head(embedding, (16, self.actions))
        value = head(embedding, (16, 1))
        return hidden, SimpleNamespace(logits=logits), value[..., 0]


class QNetworkCNN(nn.Module):
    """PQN's: normed convolutions, two normed dense layers, values of actions."""

    actions: int = 6

    @nn.compact
    def __call__(self, x):
        x = named_cnn(norms=True, dense=False)(x)
        for _ in range(2):
            x = nn.Dense(16)(x)
            x = nn.relu(nn.LayerNorm()(x))
        return nn.Dense(self.actions)(x)


class QNetworkRNN(nn.Module):
    """VDN's, IQL's and QMIX's: dense, GRU, values of actions."""

    actions: int = 6

    @nn.compact
    def __call__(self, hidden, x):
        obs, dones = x
        x = nn.relu(nn.Dense(16)(obs))
        hidden, x = ScannedRNN()(hidden, (x, dones))
        return hidden, nn.Dense(self.actions)(x)


class HanabiActorCritic(nn.Module):
    """JaxMARL's feed-forward network for Hanabi: a shared first layer, ReLU."""

    actions: int = 21

    @nn.compact
    def __call__(self, x):
        embedding = nn.relu(nn.Dense(16)(x))
        logits = head(embedding, (16, self.actions))
        value = head(embedding, (16, 1))
        return SimpleNamespace(logits=logits), value[..., 0]
