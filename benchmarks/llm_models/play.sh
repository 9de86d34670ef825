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
places="--base-url qwen=http://127.0.0.1:8092/v1 smol=http://127.0.0.1:8091/v1"
common="--at-once 1 --timeout-s 3600 --patience-s 600 --temperature 0.3 $places"
choose="--actions choose --prompts ${PROMPTS:-5} --dialogue one_way --max-tokens 80"

# One action of a list, so that no answer is refused: cook MODELS CHEF ASSISTANT FRAMEWORK HORIZON DISHES...
cook() {
  folder=$out/$1 chef=$2 assistant=$3 framework=$4 horizon=$5
  shift 5
  interplay llm run --chef "$chef" --assistant "$assistant" --scaffold "$framework" --dishes "$@" --horizon "$horizon" \
    --episodes "$episodes" $choose $common --out "$folder/original/$framework"
}

hanabi() {
  folder=$out/hanabi/$1 game=$2
  shift 2
  interplay llm play --game "$game" --agents "$@" --episodes "$episodes" --max-tokens 100 $common --out "$folder"
}

of_qwen() {
  script="scripted/reference?actions=all"
  cook qwen "$script" "$qwen" baseline 40 "boiled egg" "boiled corn~slices"
  cook qwen "$qwen" "$qwen" baseline 30 "boiled egg"
  cook qwen "$script" "$qwen" proagent 40 "boiled egg"
  cook qwen "$script" "$qwen" belief 40 "boiled egg"
  cook qwen "$qwen" "$qwen" baseline 30 "boiled egg" "boiled corn~slices"
  cook qwen "$qwen" "$smol" baseline 30 "boiled egg"
  cook qwen "$smol" "$qwen" baseline 30 "boiled egg"
}

of_smol() {
  script="scripted/reference?actions=all"
  cook smol "$script" "$smol" baseline 40 "boiled egg" "boiled corn~slices"
  [ "$episodes" -gt 1 ] || hanabi smol2 hanabi/2p "llm:$smol" "llm:$smol"
  cook smol "$smol" "$smol" baseline 30 "boiled egg" "boiled corn~slices"
  cook smol "$script" "$smol" proagent 40 "boiled egg"
  cook smol "$script" "$smol" belief 40 "boiled egg"
  [ "$episodes" -gt 1 ] || hanabi smol3 hanabi/3p "llm:$smol" "llm:$smol" "llm:$smol"
}

for episodes in $(seq "$last"); do
  "of_$part"
done
