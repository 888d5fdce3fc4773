"""Whom a proxy vouches for: believed from where it stands, in one form, and as one person."""

import json
import time
from ipaddress import ip_network

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from pydantic import SecretStr
from starlette.requests import HTTPConnection

from tocsin_contracts.roles import Role
from tocsin_gateway.access import Access, Principal, nobody
from tocsin_gateway.assertions import Assertions
from tocsin_gateway.proxies import IGNORED, Proxies
from tocsin_gateway.refusals import RefusedError
from tocsin_kit.errors import PermanentError

PROXY, STRANGER = "192.0.2.7", "203.0.113.9"
NETWORKS = (ip_network("192.0.2.0/24"), ip_network("2001:db8::/32"))
GROUPS = {"sre": Role.APPROVER, "dev": Role.OPERATOR}
KEY = ec.generate_private_key(ec.SECP256R1())
OTHER = ec.generate_private_key(ec.SECP256R1())
HEADER = "X-Assertion"


def asked(*headers, peer=PROXY):
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    client = (peer, 4321) if peer is not None else None
    return HTTPConnection({"type": "http", "method": "GET", "headers": raw, "client": client})


def access(signed=None, **roles):
    return Access(
        {"ana": SecretStr("token-of-ana-1234")},
        roles,
        proxies=Proxies(NETWORKS, "X-Forwarded-User", "X-Forwarded-Groups", signed),
        groups=GROUPS,
    )


def ignored():
    return sum(sample.value for sample in IGNORED.collect()[0].samples if "total" in sample.name)


USER = ("X-Forwarded-User", "bo")


@pytest.mark.parametrize("peer", [PROXY, "2001:db8::1", "::ffff:192.0.2.7"])
def test_whom_a_trusted_proxy_names_is_known(peer):
    assert access().proxied(asked(USER, peer=peer)) == Principal("bo", Role.VIEWER)


@pytest.mark.parametrize("peer", [STRANGER, "::1", "", "unix:", None])
def test_p3_whom_anybody_else_names_is_nobody_and_that_is_counted(peer):
    before = ignored()
    assert access().proxied(asked(USER, peer=peer)) is None
    assert ignored() == before + 1


def test_p3_without_proxies_no_header_names_anybody():
    known = Access({"ana": SecretStr("token-of-ana-1234")})
    with pytest.raises(RefusedError, match="unknown token"):
        known.admit(asked(USER), nobody)


@pytest.mark.parametrize("name", ["", " ", "a b", "a,b", "a\tb", "é", "x" * 201, "a\x00"])
def test_p3_what_cannot_be_an_id_names_nobody(name):
    assert access().proxied(asked(("X-Forwarded-User", name))) is None


@pytest.mark.parametrize(
    "twice",
    [
        [USER, ("X-Forwarded-User", "ana")],
        [USER, USER],
        [USER, ("X-Forwarded-Groups", "sre"), ("X-Forwarded-Groups", "guests")],
        [USER, ("x-forwarded-groups", "sre"), ("X-FORWARDED-GROUPS", "")],
    ],
    ids=str,
)
def test_p3_a_header_that_was_sent_twice_names_nobody(twice):
    before = ignored()
    assert access().proxied(asked(*twice)) is None
    assert ignored() == before + 1


@pytest.mark.parametrize("name", ["X_Forwarded_User", "X-Forwarded-User-", "Forwarded-User"])
def test_p3_a_header_that_is_called_much_the_same_names_nobody(name):
    assert access().proxied(asked((name, "ana"))) is None
    assert access().proxied(asked(USER, (name, "ana"))).id == "bo"


@pytest.mark.parametrize(
    ("groups", "role"),
    [
        ([], Role.VIEWER),
        (["guests"], Role.VIEWER),
        (["dev"], Role.OPERATOR),
        (["dev, sre ,guests"], Role.APPROVER),
        (["sre-not,sre dev"], Role.VIEWER),
    ],
)
def test_who_is_in_groups_has_the_highest_of_their_roles(groups, role):
    told = [("X-Forwarded-Groups", group) for group in groups]
    assert access().proxied(asked(USER, *told)).role is role


def test_the_role_of_an_id_wins_over_groups_so_that_one_person_can_be_held_back():
    told = ("X-Forwarded-Groups", "sre")
    assert access(bo=Role.VIEWER).proxied(asked(USER, told)).role is Role.VIEWER


def bearer(token):
    return ("Authorization", f"Bearer {token}")


def test_a_token_and_a_proxy_may_name_the_same_person_only():
    token = bearer("token-of-ana-1234")
    same = ("X-Forwarded-User", "ana")
    assert access().admit(asked(token, same), nobody).id == "ana"
    with pytest.raises(RefusedError, match="the token is that of 'ana', and the proxy names 'bo'"):
        access().admit(asked(token, USER), nobody)


def test_a_proxy_may_hand_on_a_token_of_its_own():
    assert access().admit(asked(bearer("of-the-proxy"), USER), nobody).id == "bo"
    with pytest.raises(RefusedError, match="unknown token"):
        access().admit(asked(bearer("of-the-proxy"), USER, peer=STRANGER), nobody)


def test_who_could_is_said_with_groups():
    assert access(ana=Role.ADMIN).able(Role.APPROVER) == ("ana", "group sre")


def jwk(key, kid):
    told = jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return told | {"kid": kid, "alg": "ES256", "use": "sig"}


def write(path, *keys):
    path.write_text(json.dumps({"keys": list(keys)}))


@pytest.fixture
def keys(tmp_path):
    path = tmp_path / "keys.json"
    write(path, jwk(KEY, "one"))
    return path


def reader(path):
    return Assertions(HEADER, path, audience="tocsin", issuer="https://idp.example")


def signed(key=KEY, *, kid="one", algorithm="ES256", without=(), **claims):
    told = {
        "email": "bo@example.com",
        "groups": ["sre"],
        "aud": "tocsin",
        "iss": "https://idp.example",
        "exp": time.time() + 60,
    } | claims
    kept = {name: value for name, value in told.items() if name not in without}
    return jwt.encode(kept, key, algorithm=algorithm, headers={"kid": kid} if kid else None)


def read(path, text):
    return access(reader(path)).proxied(asked((HEADER, text)))


@pytest.mark.parametrize("prefix", ["", "Bearer "])
def test_a_signed_word_names_a_person_and_their_groups(keys, prefix):
    assert read(keys, prefix + signed()) == Principal("bo@example.com", Role.APPROVER)
    assert read(keys, prefix + signed(kid=None)).id == "bo@example.com"


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": OTHER},
        {"kid": "two"},
        {"aud": "another"},
        {"aud": ["another"]},
        {"iss": "https://evil.example"},
        {"exp": 1},
        {"nbf": 2**40},
        {"without": ["exp"]},
        {"without": ["aud"]},
        {"without": ["iss"]},
        {"without": ["email"]},
        {"email": ["bo"]},
        {"email": "b o"},
        {"email_verified": False},
        {"email_verified": "false"},
        {"email_verified": None},
        {"key": None, "algorithm": "none"},
    ],
)
def test_p3_a_word_that_is_not_wholly_right_names_nobody(keys, wrong):
    before = ignored()
    assert read(keys, signed(**wrong)) is None
    assert ignored() == before + 1


def test_p3_a_public_key_is_no_password(keys):
    key = rsa.generate_private_key(65537, 2048)
    told = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    write(keys, told | {"kid": "one", "alg": "RS256"})
    assert read(keys, signed(key, algorithm="RS256"))
    assert read(keys, signed(told["n"], algorithm="HS256")) is None
    write(keys, {"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3I", "kid": "one"})
    assert read(keys, signed("secret-secret-secret-secret-secr", algorithm="HS256")) is None


@pytest.mark.parametrize("text", ["", "x", "a.b.c", "é", "Bearer", "e30.e30."])
def test_p3_nonsense_names_nobody(keys, text):
    assert read(keys, text) is None


def test_p3_where_words_are_signed_a_plain_header_names_nobody(keys):
    assert access(reader(keys)).proxied(asked(USER)) is None


def test_p3_a_signed_word_counts_from_the_proxy_only(keys):
    assert access(reader(keys)).proxied(asked((HEADER, signed()), peer=STRANGER)) is None


def test_new_keys_are_known_at_once_and_a_broken_file_keeps_the_old(keys):
    words = reader(keys)
    write(keys, jwk(OTHER, "two"))
    assert words.person(signed(OTHER, kid="two"))
    assert words.person(signed()) is None
    keys.write_text("{broken")
    assert words.person(signed(OTHER, kid="two"))
    keys.unlink()
    assert words.person(signed(OTHER, kid="two"))


@pytest.mark.parametrize("text", [None, "", "{}", "[]", '{"keys": []}', "{broken"])
def test_a_file_without_keys_stops_the_start(tmp_path, text):
    path = tmp_path / "keys.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(PermanentError, match=r"TOCSIN_PROXY_JWT_KEYS: .* is no JWKS file"):
        reader(path)
