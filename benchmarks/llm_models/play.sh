#!/bin/sh
# All that is to be played for docs/results/llm_models.md, what tells most first; what OUT holds is not played again.
#
#   make local-models
#   interplay llm serve --weights qwen2.5-coder-1.5b --port 8092 & interplay llm serve --port 8091 &
#   sh benchmarks/llm_models/play.sh OUT qwen & sh benchmarks/llm_models/play.sh OUT smol
#
# EPISODES of each cell, 3 unless told: all cells get their first before any gets its second.
# QWEN and SMOL name other models: QWEN=scripted/reference SMOL=scripted/forgetful tries the script without any.
set -eu
out=$1 part=$2
qwen=${QWEN:-qwen/qwen2.5-coder-1.5b} smol=${SMOL:-smol/smollm2} last=${EPISODES:-3}
script="scripted/reference?actions=all"
places="--base-url qwen=http://127.0.0.1:8092/v1 smol=http://127.0.0.1:8091/v1"
common="--at-once 1 --timeout-s 3600 --patience-s 600 --temperature 0.3 $places"
choose="--actions choose --prompts ${PROMPTS:-5} --dialogue one_way --max-tokens 80"

# One action of a list, so that no answer is refused: cook CHEF ASSISTANT FRAMEWORK HORIZON DISHES...
cook() {
  chef=$1 assistant=$2 framework=$3 horizon=$4
  shift 4
  interplay llm run --chef "$chef" --assistant "$assistant" --scaffold "$framework" --dishes "$@" --horizon "$horizon" \
    --episodes "$episodes" $choose $common --out "$out/$part/original/$framework"
}

of_qwen() {
  cook "$script" "$qwen" baseline 40 "boiled egg" "boiled corn~slices"
  cook "$qwen" "$qwen" baseline 24 "boiled egg"
  cook "$script" "$qwen" proagent 40 "boiled egg"
  cook "$script" "$qwen" belief 40 "boiled egg"
  cook "$qwen" "$smol" baseline 24 "boiled egg"
  cook "$smol" "$qwen" baseline 24 "boiled egg"
}

of_smol() {
  cook "$script" "$smol" baseline 40 "boiled egg" "boiled corn~slices"
  cook "$smol" "$smol" baseline 30 "boiled egg" "boiled corn~slices"
  cook "$script" "$smol" proagent 40 "boiled egg"
  cook "$script" "$smol" belief 40 "boiled egg"
  [ "$episodes" -gt 1 ] || interplay llm play --game hanabi/2p --agents "llm:$smol" "llm:$smol" --episodes 1 \
    --max-tokens 120 $common --out "$out/hanabi/self"
}

for episodes in $(seq "$last"); do
  "of_$part"
done
