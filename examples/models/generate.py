"""A tiny Llama in torch writes tokens: a prompt in one program, then token by token in another.

Both programs are in one file, which holds the weights once; the cache of keys and values is state
that both see. `--hf` takes `LlamaForCausalLM` of transformers instead, with its static cache.
"""

from __future__ import annotations

import argparse
import sys
import time

import torch
from llama import VOCABULARY, PlainModel, TransformersModel

import ttmlir


def generate(model, first, step, count):
    """The tokens after the prompt, each that of the highest score; all scores, and seconds."""
    scores = [model.run(first, model.prompt, 0)]
    start = time.perf_counter()
    while len(scores) < count:
        place = len(model.prompt) + len(scores) - 1
        scores.append(model.run(step, scores[-1].argmax().reshape(1), place))
    seconds = time.perf_counter() - start
    return [int(each.argmax()) for each in scores], torch.stack(scores), seconds


def main() -> int:
    """Exit status 0 if the compiled programs write what torch writes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tokens", type=int, default=32, help="how many to write")
    parser.add_argument("--hf", action="store_true", help="take LlamaForCausalLM of transformers")
    parser.add_argument("--board", default="n150", help="what to compile and estimate for")
    asked = parser.parse_args()
    count = max(2, asked.tokens)
    torch.manual_seed(0)
    prompt = torch.randint(VOCABULARY, (7,))
    model = (TransformersModel if asked.hf else PlainModel)(prompt, len(prompt) + count)
    compiled = ttmlir.compile_programs(model.examples(), board=asked.board)
    print(compiled)
    tokens, scores, seconds = generate(model, compiled.prefill, compiled.decode, count)
    with torch.no_grad():
        wanted, wanted_scores, _ = generate(model, model.module, model.module, count)
    print("tokens:", *tokens)
    same = sum(a == b for a, b in zip(tokens, wanted, strict=True))
    [[_, correlation], _] = torch.corrcoef(torch.stack([scores, wanted_scores]).flatten(1))
    print(f"{same} of {count} as in torch, correlation of scores {correlation:.6f}")
    print(f"estimated on {asked.board}: {compiled.decode.estimate().rate(1, 'tokens')}")
    print(f"measured here, with NumPy: {(count - 1) / seconds:,.0f} tokens per second")
    return 0 if tokens == wanted else 1


if __name__ == "__main__":
    sys.exit(main())
