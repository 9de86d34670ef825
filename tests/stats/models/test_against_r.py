"""Ours against R's lme4, lmerTest, pbkrtest, emmeans and ordinal (`make test-r`)."""

import shutil

import pytest

from benchmarks.models_against_r import SETS, compare

pytestmark = pytest.mark.r

# R's ordinal takes standard errors from the whole Hessian, ours add what the variances leave open to those given them.
LOOSE = {
    ("ordinal", "se"): 0.01,
    ("ordinal", "thresholds"): 1e-3,
    ("ordinal", "estimate"): 1e-3,
    ("ordinal", "sds"): 1e-3,
}


@pytest.mark.parametrize("name", SETS)
def test_numbers_agree(name):
    if shutil.which("Rscript") is None:
        pytest.fail("Rscript is not installed; `make test-r` installs it from apt")
    for row in compare(name):
        allowed = LOOSE.get((row["model"], row["quantity"]), 1e-4)
        assert row["difference"] < allowed, (name, row)
