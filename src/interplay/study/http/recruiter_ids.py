"""Recruiters' ids in the addresses that participants come with: required, and signed where the recruiter signs them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey, RSAPublicNumbers

from interplay.errors import InterplayError
from interplay.server.clock import Clock
from interplay.study.db.participants import TurnedAway
from interplay.study.protocol.model import Completion
from interplay.untrusted_files import parse_json, read_text

PARAMETERS = {"prolific": "PROLIFIC_PID", "mturk": "workerId"}  # the query parameter with the recruiter's id
TOKEN, SIGNATURE = "prolific_token", "signature"  # query parameters with the recruiter's signature
LONGEST_TOKEN = 4096


class RecruiterIds:
    """Reads recruiters' ids.

    Args:
        rule: What the study file says about its recruiter.
        clock: Tells whether a token has expired.
        key_file: The recruiter's public keys (a JSON web key set) for `signature: jwt`, the shared secret for `hmac`.

    Raises:
        InterplayError: The study asks for signed ids, and there is no key.
    """

    def __init__(self, rule: Completion, clock: Clock, key_file: Path | None = None):
        self._rule, self._clock = rule, clock
        self._secret, self._keys = b"", {}
        if rule.signature is None:
            return
        if key_file is None:
            raise InterplayError(
                "this study takes signed recruiter ids only: give the recruiter's keys, --recruiter-keys"
            )
        text = read_text(key_file)
        if rule.signature == "jwt":
            self._keys = _public_keys(text, key_file)
        else:
            self._secret = text.strip().encode()
            if len(self._secret) < 16:
                raise InterplayError(f"{key_file}: a shared secret has at least 16 characters")

    def read(self, query: Mapping[str, str], host: str) -> str | None:
        """Return the recruiter's id of an address; None if it has none and none is required.

        Args:
            query: The parameters of the address.
            host: The host that was asked for, for which a token must be meant unless the study names another.

        Raises:
            TurnedAway: There is no id, or it is not signed by the recruiter.
        """
        rule = self._rule
        name = PARAMETERS.get(rule.recruiter or "")
        recruiter_id = query.get(name) if name else None
        if not recruiter_id:
            if rule.require_id or rule.signature:
                raise TurnedAway("not_allowed", "no_recruiter")
            return None
        signed = rule.signature is None or (
            self._token_fits(query.get(TOKEN, ""), str(name), recruiter_id, rule.audience or host)
            if rule.signature == "jwt"
            else self._hash_fits(query.get(SIGNATURE, ""), recruiter_id)
        )
        if not signed:
            raise TurnedAway("not_allowed", "unsigned")
        return recruiter_id

    def _hash_fits(self, signature: str, recruiter_id: str) -> bool:
        right = hmac.new(self._secret, recruiter_id.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
        return hmac.compare_digest(right.encode(), signature.lower().encode("utf-8", "replace"))

    def _token_fits(self, token: str, name: str, recruiter_id: str, host: str) -> bool:
        """Whether a token has a good signature, has not expired, and is about this id and this host."""
        claims = self._claims(token)
        expires, payload = claims.get("exp"), claims.get("prolific")
        if not isinstance(expires, int | float) or self._clock.now().timestamp() >= expires:
            return False
        audience = claims.get("aud")
        meant = [audience] if isinstance(audience, str) else audience if isinstance(audience, list) else []
        if not any(str(place).removeprefix("https://").rstrip("/") == host for place in meant):
            return False
        claims = {str(key).lower(): value for key, value in payload.items()} if isinstance(payload, dict) else {}
        return recruiter_id in (claims.get(name.lower()), claims.get("participant_id"))

    def _claims(self, token: str) -> dict[str, Any]:
        """Return the claims of a token that was signed with one of the keys (RS256); nothing of any other."""
        try:
            if len(token) > LONGEST_TOKEN:
                return {}
            head, body, signature = token.split(".")
            header = json.loads(_decode(head))
            if header["alg"] != "RS256":  # never what the token chooses: `none` would need no signature
                return {}
            key = self._keys[header["kid"]]
            key.verify(_decode(signature), f"{head}.{body}".encode(), padding.PKCS1v15(), hashes.SHA256())
            claims = json.loads(_decode(body))
            return claims if isinstance(claims, dict) else {}
        except (ValueError, KeyError, TypeError, InvalidSignature, binascii.Error, RecursionError):
            return {}


def _public_keys(text: str, where: Path) -> dict[str, RSAPublicKey]:
    try:
        rows = parse_json(text.encode(), str(where))["keys"]
        keys = {row["kid"]: RSAPublicNumbers(_number(row["e"]), _number(row["n"])).public_key() for row in rows
                if row.get("kty") == "RSA"}  # fmt: skip
    except (KeyError, TypeError, ValueError, binascii.Error):
        keys = {}
    if not keys:
        raise InterplayError(f"{where} is no JSON web key set with RSA keys")
    return keys


def _number(text: str) -> int:
    return int.from_bytes(_decode(text))


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
