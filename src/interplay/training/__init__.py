"""One PPO for teams, compiled as a whole, and the coordination methods that choose partners and rewards for it.

    python -m interplay.training CONFIG.json

`config` tells what can be set; `method` what a coordination method may decide, and `algorithms` holds them; `collect`,
`advantages`, `loss` and `update` are PPO; `program` compiles them; `run` runs a stage, logs and writes checkpoints.
"""
