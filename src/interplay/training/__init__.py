"""One PPO for teams, compiled as a whole, and the coordination methods that are rules of partners and rewards on it.

    python -m interplay.training CONFIG.json

`config` tells what can be set; `scheme` what a coordination method may decide; `collect`, `advantages`, `loss` and
`update` are the algorithm; `program` compiles them; `run` drives, logs and keeps checkpoints.
"""
