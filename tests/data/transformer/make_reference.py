#!/usr/bin/python3
"""Writes what PyTorch makes of two small GPT-NeoX models: a .bin file each with the loss and then
the gradient of every parameter in the flat order, as little-endian float32.

Needs PyTorch (Debian's package python3-torch). Run it in this folder; the files are committed, so
that the tests do not need it. Weights and tokens are whole numbers divided by a power of two, which
tests/unit/transformer_test.cc computes alike. All arithmetic here is in double.
"""
import math
import sys

import torch
from torch.nn import functional

MODELS = {  # layers, width, heads, context, vocabulary, rows
    "two-layers": (2, 16, 2, 9, 13, 3),
    "two-pairs": (1, 32, 2, 7, 11, 2),
}


def shapes(layers, width, vocabulary):
    """Names and shapes in the flat order."""
    yield "gpt_neox.embed_in.weight", (vocabulary, width)
    for layer in range(layers):
        block = f"gpt_neox.layers.{layer}."
        for norm in ("input_layernorm", "post_attention_layernorm"):
            yield block + norm + ".weight", (width,)
            yield block + norm + ".bias", (width,)
        for linear, out, into in (
            ("attention.query_key_value", 3 * width, width),
            ("attention.dense", width, width),
            ("mlp.dense_h_to_4h", 4 * width, width),
            ("mlp.dense_4h_to_h", width, 4 * width),
        ):
            yield block + linear + ".weight", (out, into)
            yield block + linear + ".bias", (out,)
    yield "gpt_neox.final_layer_norm.weight", (width,)
    yield "gpt_neox.final_layer_norm.bias", (width,)
    yield "embed_out.weight", (vocabulary, width)


def make_parameters(layers, width, vocabulary):
    parameters, at = {}, 0
    for name, shape in shapes(layers, width, vocabulary):
        count = math.prod(shape)
        values = [((31 * i * i + 7919 * i) % 1021 - 510) / 2048 for i in range(at, at + count)]
        tensor = torch.tensor(values, dtype=torch.float64).reshape(shape)
        if "norm.weight" in name:
            tensor += 1
        parameters[name] = tensor.requires_grad_()
        at += count
    return parameters


def rotate(x):
    """Rotary positions on the first quarter of each head; x is (rows, heads, context, size)."""
    context, size = x.shape[2:]
    turned = size // 4
    half = turned // 2
    speeds = 10000.0 ** (-torch.arange(half, dtype=torch.float64) * 2 / turned)
    angles = torch.outer(torch.arange(context, dtype=torch.float64), speeds)
    cosines, sines = angles.cos(), angles.sin()
    first, second, rest = x[..., :half], x[..., half:turned], x[..., turned:]
    return torch.cat(
        (first * cosines - second * sines, second * cosines + first * sines, rest), dim=-1
    )


def loss_of(p, tokens, layers, width, heads):
    rows, context = tokens.shape[0], tokens.shape[1] - 1
    size = width // heads
    hidden = functional.embedding(tokens[:, :-1], p["gpt_neox.embed_in.weight"])
    visible = torch.ones(context, context).tril().bool()

    def norm(x, name):
        return functional.layer_norm(x, (width,), p[name + ".weight"], p[name + ".bias"], 1e-5)

    def linear(x, name):
        return functional.linear(x, p[name + ".weight"], p[name + ".bias"])

    for layer in range(layers):
        block = f"gpt_neox.layers.{layer}."
        fused = linear(norm(hidden, block + "input_layernorm"), block + "attention.query_key_value")
        fused = fused.view(rows, context, heads, 3 * size).permute(0, 2, 1, 3)
        query, key, value = fused.split(size, dim=-1)
        scores = rotate(query) @ rotate(key).transpose(-1, -2) / math.sqrt(size)
        weights = scores.masked_fill(~visible, -math.inf).softmax(-1)
        attended = (weights @ value).permute(0, 2, 1, 3).reshape(rows, context, width)
        inner = linear(
            norm(hidden, block + "post_attention_layernorm"), block + "mlp.dense_h_to_4h"
        )
        hidden = (
            hidden
            + linear(attended, block + "attention.dense")
            + linear(functional.gelu(inner), block + "mlp.dense_4h_to_h")
        )
    logits = norm(hidden, "gpt_neox.final_layer_norm") @ p["embed_out.weight"].T
    return functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def main():
    for name, (layers, width, heads, context, vocabulary, rows) in MODELS.items():
        parameters = make_parameters(layers, width, vocabulary)
        stream = [(5 * i * i + 3 * i + 1) % vocabulary for i in range(rows * context + 1)]
        tokens = torch.tensor(
            [stream[r * context : (r + 1) * context + 1] for r in range(rows)], dtype=torch.int64
        )
        loss = loss_of(parameters, tokens, layers, width, heads)
        loss.backward()
        values = torch.cat([loss.detach().view(1)] + [t.grad.flatten() for t in parameters.values()])
        if sys.byteorder != "little":
            sys.exit("this machine is not little-endian")
        with open(name + ".bin", "wb") as file:
            file.write(values.float().numpy().tobytes())
        print(f"{name}.bin: loss {loss.item():.9f}, {len(values) - 1} parameters")


if __name__ == "__main__":
    main()
