#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a routing trace in the SGLang JSONL layout: skewed, seeded top-k choices for every token and MoE layer.

    scripts/synthetic_trace.py --experts 256 --top-k 8 --first-layer 3 --layers 58 --tokens 256 > trace.jsonl
    orrery run scenarios/cloudmatrix384_decode.yaml --set workload.routing.source=trace \
        --set workload.routing.file=trace.jsonl --set workload.experts.placement=contiguous
"""
import argparse
import json
import random
import sys


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experts", type=int, default=256)
    parser.add_argument("--top-k", type=int, default=8)
    parser.add_argument("--first-layer", type=int, default=3, help="model index of the first MoE layer")
    parser.add_argument("--layers", type=int, default=58, help="number of MoE layers")
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--zipf", type=float, default=0.6, help="the k-th expert of a layer has weight 1/k^ZIPF")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    draw = random.Random(args.seed)
    layers = range(args.first_layer, args.first_layer + args.layers)
    # Exponential race: the top-k of log(weight) + Gumbel noise is a draw without replacement.
    orders = {layer: draw.sample(range(args.experts), args.experts) for layer in layers}
    rates = [(rank + 1) ** -args.zipf for rank in range(args.experts)]

    header = {"expert_count": args.experts, "top_k": args.top_k, "moe_layer_indices": list(layers),
              "routing_source": "synthetic", "seed": args.seed, "zipf": args.zipf}
    json.dump({"provenance": header, "row_type": "header", "schema": "simllm-preplay-trace-v2"}, sys.stdout)
    sys.stdout.write("\n")
    for token in range(args.tokens):
        routing = []
        for layer in layers:
            arrival = [draw.expovariate(rate) for rate in rates]
            chosen = sorted(range(args.experts), key=arrival.__getitem__)[:args.top_k]
            routing.append({"expert_ids": [orders[layer][rank] for rank in chosen], "layer_index": layer})
        json.dump({"phase": "decode", "request_id": "synthetic", "routing": routing, "row_type": "observed-dispatch",
                   "schema": "simllm-preplay-trace-v2", "token_index": token}, sys.stdout)
        sys.stdout.write("\n")


if __name__ == "__main__":
    main()
