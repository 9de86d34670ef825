#!/bin/sh
# All that is to be played for docs/results/llm_models.md, what tells most first; what OUT holds is not played again.
#
#   make local-models
#   interplay llm serve --weights qwen2.5-coder-1.5b --port 8092 & interplay llm serve --port 8091 &
#   sh benchmarks/llm_models/play.sh OUT
#
# QWEN and SMOL name other models: QWEN=scripted/reference SMOL=scripted/forgetful tries the script without any.
set -eu
out=$1
qwen=${QWEN:-qwen/qwen2.5-coder-1.5b} smol=${SMOL:-smol/smollm2} episodes=${EPISODES:-3}
places="--base-url qwen=http://127.0.0.1:8092/v1 smol=http://127.0.0.1:8091/v1"
common="--at-once 1 --timeout-s 3600 --patience-s 600 --temperature 0.3 $places"
egg="boiled egg" corn="boiled corn~slices"
choose="--actions choose --prompts 4 --dialogue one_way --max-tokens 80 --horizon 40"

# One action of a list, so that no answer is refused
interplay llm run --chefs "scripted/reference?actions=all" "$qwen" --assistant "$qwen" --dishes "$egg" "$corn" \
  --episodes "$episodes" $choose $common --out "$out/chosen/original/baseline"
interplay paper llm play --models "$qwen" "$smol" --frameworks baseline --no-alone --dishes "$egg" "$corn" \
  --episodes "$episodes" $choose $common --out "$out/chosen"
interplay paper llm play --models "$qwen" --frameworks proagent belief --no-alone --dishes "$egg" "$corn" \
  --episodes "$episodes" $choose $common --out "$out/chosen"
interplay llm solo --models "$qwen" --layouts nrc --levels 1 --episodes "$episodes" --actions choose --prompts 4 \
  --dialogue one_way --max-tokens 80 $common --out "$out/chosen/solo"

# Whole plans, which can be refused
interplay paper llm play --models "$qwen" --frameworks baseline --no-alone --dishes "$egg" "$corn" --episodes 1 \
  --prompts 4 --turn-cap 2 --max-tokens 160 --horizon 40 $common --out "$out/plans"

# Hanabi, each game to its end
interplay llm play --game hanabi/2p --agents "llm:$smol" "llm:$smol" --episodes 1 --max-tokens 120 $common \
  --out "$out/hanabi/smol2"
interplay llm play --game hanabi/3p --agents "llm:$smol" "llm:$smol" "llm:$smol" --episodes 1 --max-tokens 120 $common \
  --out "$out/hanabi/smol3"
interplay llm play --game hanabi/2p --agents "llm:$qwen" "llm:$qwen" --episodes 1 --max-tokens 120 $common \
  --out "$out/hanabi/qwen2"

for number in table2 table3 table4 table5 figure2 figure3; do interplay paper llm $number "$out/chosen"; done
interplay paper ah2ac2 models "$out"/hanabi/*
