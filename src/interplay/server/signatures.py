"""Signatures: what the server said can be checked later, by anyone, without the server."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from interplay.errors import InterplayError
from interplay.server.clock import Clock
from interplay.server.database import Tx, insert
from interplay.server.schema import secrets

ALGORITHM = "ed25519"


class Signer:
    """The server's key pair."""

    def __init__(self, private: bytes):
        self._key = Ed25519PrivateKey.from_private_bytes(private)
        self.public = base64.b64encode(self._key.public_key().public_bytes_raw()).decode()
        self.fingerprint = fingerprint(self.public)

    def sign(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """The content with its signature beside it."""
        signature = base64.b64encode(self._key.sign(canonical(content))).decode()
        return {
            "content": dict(content),
            "signature": {"algorithm": ALGORITHM, "public_key": self.public, "value": signature},
        }


def signer(tx: Tx, clock: Clock) -> Signer:
    """The server's signer; its key is made when first needed and stays in the database."""
    return Signer(secret(tx, clock, "signing"))


def secret(tx: Tx, clock: Clock, name: str) -> bytes:
    """32 random bytes of the server's own, the same for ever."""
    query = sa.select(secrets.c.value).where(secrets.c.name == name)
    value = tx.execute(query).scalar_one_or_none()
    if value is None:
        new = Ed25519PrivateKey.generate().private_bytes_raw()
        row = insert(tx, secrets).values(name=name, value=new, created=clock.now())
        tx.execute(row.on_conflict_do_nothing(index_elements=["name"]))  # another process may be making it just now
        value = tx.execute(query).scalar_one()
    return bytes(value)


def verify(signed: Mapping[str, Any], public: str | None = None) -> Mapping[str, Any]:
    """The content if its signature is right, and by this public key if one is given; otherwise an error."""
    try:
        content, signature = signed["content"], signed["signature"]
        algorithm, used, value = signature["algorithm"], signature["public_key"], signature["value"]
    except (KeyError, TypeError):
        raise InterplayError("this is no signed document: it has no content with a signature beside it") from None
    if algorithm != ALGORITHM:
        raise InterplayError(f"signed by {algorithm!r}; only {ALGORITHM} is known")
    if public is not None and public != used:
        raise InterplayError(
            f"signed by another key: {fingerprint(used)}, not {fingerprint(public)}. Whoever made this is not the "
            "server that you trust"
        )
    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(used, validate=True))
        key.verify(base64.b64decode(value, validate=True), canonical(content))
    except (InvalidSignature, ValueError, binascii.Error):
        raise InterplayError("the signature does not fit the content: one of them was changed") from None
    return content


def canonical(content: Any) -> bytes:
    """The one way to write a document for signing: sorted names, no spaces, plain ASCII."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def fingerprint(public: str) -> str:
    """A public key in short, for people to compare."""
    return hashlib.sha256(str(public).encode("utf-8", "replace")).hexdigest()[:16]
