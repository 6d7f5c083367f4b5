#!/usr/bin/env bash
# Measure a machine with a GPU in at most nine minutes: the tests on the GPU, training steps, K-means, and the
# cells of Table III with their wall times.
#
#     benchmarks/gpu_day.sh DATA OUT
#
# DATA holds prepared datasets, such as results/paper/data; OUT is the folder of everything that is written.
# The most valuable parts run first, each under its own time limit. What is complete when the time ends is kept,
# and a second run with the same OUT continues. Neither Snakemake nor MLflow is needed.
#
# Environment variables, for a rehearsal: DEVICE (cuda), CONFIG (config/config.yaml), STEPS and KMEANS
# (options of steps.py and kmeans.py), DATASETS (usps mnist coil20 news20) and LIMIT, the seconds in all (525).
set -uo pipefail
[ $# -eq 2 ] && [ -d "$1" ] || { echo "usage: $0 DATA OUT; DATA should be a folder of prepared datasets" >&2; exit 2; }
mkdir -p "$2" || exit 1
data=$(realpath "$1") out=$(realpath "$2")
cd "$(dirname "$0")/.." || exit 1
device=${DEVICE:-cuda} config=${CONFIG:-config/config.yaml} limit=${LIMIT:-525}
export PYTHONPATH=$PWD${PYTHONPATH:+:$PYTHONPATH} PYTHONUNBUFFERED=1
ln -sfn "$data" "$out/data"

say() { echo "$*" | tee -a "$out/summary.txt"; }

has() { python -c 'import sys; from importlib.util import find_spec; sys.exit(find_spec(sys.argv[1]) is None)' "$1"; }

# part NAME SECONDS COMMAND...: run a part; its output goes to OUT/NAME.log.
part() {
    local name=$1 seconds=$2 left=$((limit - SECONDS)) started=$SECONDS status
    shift 2
    ((seconds < left)) || seconds=$left
    if ((seconds < 5)); then
        say "$name: no time left"
        return
    fi
    timeout --signal=INT --kill-after=5 "$seconds" "$@" > "$out/$name.log" 2>&1
    status=$?
    case $status in
        0) say "$name: complete, $((SECONDS - started)) s" ;;
        124 | 137) say "$name: stopped at its limit of $seconds s" ;;
        *) say "$name: failed with status $status after $((SECONDS - started)) s, see $name.log" ;;
    esac
}

for module in torch numpy scipy sklearn jaxtyping safetensors threadpoolctl filelock tqdm yaml; do
    has $module || { say "The Python module $module is missing."; exit 1; }
done
if has pytest; then
    part tests $((limit / 5)) python -m pytest -q -p no:cacheprovider tests/nn/test_cuda.py
else
    say "tests: pytest is not installed, so the tests are left out"
fi
# shellcheck disable=SC2086  # several options
part kmeans $((limit / 12)) python benchmarks/kmeans.py --device "$device" ${KMEANS:---sizes 70000x10x10} --out "$out/kmeans.json"
# shellcheck disable=SC2086
part steps $((limit / 8)) python benchmarks/steps.py --device "$device" ${STEPS:-} --out "$out/steps.json"
for dataset in ${DATASETS:-usps mnist coil20 news20}; do
    if [ -f "$data/$dataset/facts.json" ]; then
        part "$dataset" $((limit * 2 / 5)) python benchmarks/paper.py "$config" "$out" --device "$device" --datasets "$dataset"
    else
        say "$dataset: not prepared"
    fi
done
# One small file to copy from the machine: logs, scores, histories and facts, without models and embeddings.
archive=$(mktemp)
tar -czf "$archive" -C "$out" --exclude=./data --exclude=./report.tar.gz --exclude='*.safetensors' \
    --exclude='*.npy' --exclude='*.npz' . && mv "$archive" "$out/report.tar.gz"
say "$SECONDS s in all; everything is in $out, and report.tar.gz holds it without models and embeddings"
