"""Generators of torch modules and JAX functions: the tokens that the frameworks themselves give."""

from __future__ import annotations

import functools
import re
from importlib import import_module
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from samples.weight_files import adapter

import ttmlir
from ttmlir.generation.beams import BeamLimits, BeamSearch

torch: Any = import_module("torch")
meshes: Any = import_module("torch.distributed.device_mesh")
parallel: Any = import_module("torch.distributed.tensor.parallel")
nn: Any = import_module("torch.nn")

VOCABULARY, WIDTH, HEADS, WINDOW = 50, 24, 3, 5
PROMPTS = [[3, 4, 5, 6, 7, 8, 9], [20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30], [5]]


class Attention(nn.Module):
    """Heads with a cache, or with all tokens at once and torch's own masks."""

    def __init__(self, layer: int, window: int | None) -> None:
        """One product for queries, keys and values, one for the result."""
        super().__init__()
        self.layer, self.window = layer, window
        self.inner, self.outer = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Any, cache: Any) -> Any:
        """With `cache`, tokens of one step; without, whole texts."""
        split = self.inner(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        query, keys, values = split
        if cache is None:
            count = x.shape[1]
            mask = torch.ones(count, count, dtype=torch.bool).tril()
            if self.window is not None:
                mask = mask.triu(1 - self.window)
        else:
            keys, values = cache.update(keys, values, self.layer)
            mask = cache.mask(self.window)
        found = nn.functional.scaled_dot_product_attention(query, keys, values, attn_mask=mask)
        return self.outer(found.transpose(1, 2).flatten(2))


class Writer(nn.Module):
    """Two layers, one of which sees a few tokens alone; positions are learned."""

    def __init__(self) -> None:
        """Weights that are large enough for scores that differ clearly."""
        super().__init__()
        self.table, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(40, WIDTH)
        self.layers = nn.ModuleList([Attention(0, None), Attention(1, WINDOW)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens: Any, cache: Any) -> Any:
        """Scores of the tokens that are asked for."""
        x = self.table(tokens) + self.places(cache.positions)
        return self.head(cache.select(self.run(x, cache)))

    def run(self, x: Any, cache: Any) -> Any:
        """All layers."""
        for layer in self.layers:
            x = x + layer(x, cache)
        return self.norm(x)

    def write(self, prompt: list[int], count: int) -> list[int]:
        """What torch writes, reading the whole text anew for each token."""
        tokens = list(prompt)
        with torch.no_grad():
            for _ in range(count):
                x = self.table(torch.tensor([tokens])) + self.places.weight[: len(tokens)]
                tokens.append(int(self.head(self.run(x, None))[0, -1].argmax()))
        return tokens[len(prompt) :]


def make_writer(seed: int) -> Any:
    """A module with random weights."""
    torch.manual_seed(seed)
    module = Writer().eval()
    with torch.no_grad():
        module.head.weight *= 8
    return module


class Letters:
    """A tokenizer whose tokens are letters."""

    def encode(self, text: str) -> list[int]:
        """A number for each."""
        return [ord(letter) - 65 for letter in text]

    def decode(self, tokens: list[int]) -> str:
        """A letter for each."""
        return "".join(chr(65 + token) for token in tokens)


@pytest.fixture(scope="module", name="module")
def module_fixture() -> Any:
    """The module that most tests write with."""
    return make_writer(0)


@pytest.fixture(scope="module", name="generator")
def generator_fixture(module: Any) -> ttmlir.Generator:
    """Programs for one and for three prompts, which take prompts in parts of 4 and 8."""
    return ttmlir.Generator(
        module,
        max_length=40,
        prompt_lengths=(4, 8),
        batch_sizes=(1, 3),
        draft_length=3,
        tokenizer=Letters(),
    )


def test_tokens_are_those_of_torch(module: Any, generator: ttmlir.Generator) -> None:
    """Prompts of several lengths, together and alone; they are read in parts."""
    wanted = [module.write(prompt, 12) for prompt in PROMPTS]
    assert [len({*row}) > 4 for row in wanted] == [True] * 3
    together = generator.generate(PROMPTS, max_new_tokens=12)
    assert [each.tokens for each in together] == wanted
    assert {each.reason for each in together} == {"length"}
    assert generator.generate(PROMPTS[1], max_new_tokens=12).tokens == wanted[1]
    padded = np.array(list(zip_longest(*PROMPTS[:2], fillvalue=0))).T
    with_zeros = generator.generate(padded, max_new_tokens=3)
    assert with_zeros[0].tokens == module.write([*PROMPTS[0], 0, 0, 0, 0], 3)


def test_caches_stay_on_the_device(generator: ttmlir.Generator) -> None:
    """A token is written to them in place; what a program returns is not brought to the host."""
    decode = generator.programs.decode_batch_3
    text = generator.programs.text("ttnn", elide_above=16)
    text = text[text.index("@decode_batch_3(") :].partition("func.func @")[0]
    assert text.count('"ttnn.paged_update_cache"(%arg') == 4
    assert "scatter" not in text
    assert re.search(r"return %arg0, %arg1, %arg2, %arg3, %\d+ ", text)
    assert decode.estimate("n150").transfers.mid == 0
    # Keys and values of two layers: 40 positions take 64 rows of 3 heads of 8 numbers of 4 bytes.
    assert generator.caches[3] == (4, 4 * 3 * 3 * 64 * 8 * 4)


def test_bfloat16() -> None:
    """Scores and caches are of the model's type."""
    module = make_writer(2).bfloat16()
    generator = ttmlir.Generator(module, max_length=20, prompt_lengths=(4,))
    assert generator.caches[1].bytes == 4 * 3 * 32 * 8 * 2
    found = generator.generate(PROMPTS[0], max_new_tokens=4)
    assert found.tokens == module.write(PROMPTS[0], 4)


def test_weights_of_files(tmp_path: Path) -> None:
    """An adapter beside the weights: its numbers are in the program, the product is not."""
    module = make_writer(4)
    small = [torch.randn(2, WIDTH), torch.randn(VOCABULARY, 2)]
    names = "head.lora_A.weight", "head.lora_B.weight"
    pairs = zip(names, small, strict=True)
    folder = adapter(tmp_path / "a", {name: each.numpy() for name, each in pairs})
    weights = ttmlir.WeightFiles(folder, merge=False)
    generator = ttmlir.Generator(module, max_length=20, prompt_lengths=(4,), weights=weights)
    assert f"{VOCABULARY}x2xf32" in generator.programs.text()
    with torch.no_grad():
        module.head.weight += small[1] @ small[0] * 3
    found = generator.generate(PROMPTS[0], max_new_tokens=4)
    assert found.tokens == module.write(PROMPTS[0], 4)


def test_pages(module: Any) -> None:
    """Texts of several lengths share ten pages of six tokens, which a table names."""
    generator = ttmlir.Generator(
        module, max_length=40, prompt_lengths=(4,), batch_sizes=(3,), pages=10, page_size=6
    )
    # One more page takes what nobody reads.
    assert generator.caches[3] == (4, 4 * 11 * 6 * 24 * 4)
    wanted = [module.write(prompt, 6) for prompt in PROMPTS]
    found = generator.generate(PROMPTS, max_new_tokens=6)
    assert [each.tokens for each in found] == wanted
    # With 19, 23 and 12 tokens no page is left for the third text; its own go to the others.
    first, second = (generator.stream(PROMPTS, max_new_tokens=20) for _ in range(2))
    pairs = list(zip(first, second, strict=True))
    for number in range(2):
        texts: list[list[int]] = [[], [], []]
        for pair in pairs:
            texts[pair[number].prompt].append(pair[number].id)
        for text, prompt in zip(texts, PROMPTS, strict=True):
            assert text == module.write(prompt, len(text))
    reasons = {pair[0].prompt: pair[0].reason for pair in pairs if pair[0].reason}
    assert reasons == {0: "length", 1: "length", 2: "full"}
    assert len([pair for pair in pairs if pair[0].prompt == 2]) == 12
    message = "prompts 0 to 1 take 11 pages of 6 tokens; there are 10"
    with pytest.raises(ttmlir.InputError, match=message):
        generator.stream([[1] * 31, [1] * 30])


def test_a_summary_says_what_to_expect(generator: ttmlir.Generator) -> None:
    """Of each number of prompts on each board; a step of three takes less than three steps."""
    summary = generator.summary(["n150", "p150"])
    assert [(each.board, each.prompts) for each in summary.speeds] == [
        *(("n150", 1), ("n150", 3)),
        *(("p150", 1), ("p150", 3)),
    ]
    [speed, _] = generator.summary("t3000").speeds
    assert speed.board == "t3000, 1 of 8 chips"
    for one, three in (summary.speeds[:2], summary.speeds[2:]):
        assert one.token.mid < three.token.mid < 3 * one.token.mid
        assert three.rate.per_second == pytest.approx(3 * three.rate_of_prompt)
        assert one.rate.per_second == pytest.approx(1e9 / one.token.mid)
        assert set(one.first) == {4, 8}
        # Weights and caches are there, and little else.
        weights = 4 * summary.parameters + generator.caches[3].bytes
        assert three.memory > weights
    count = sum(each.numel() for each in make_writer(0).parameters())
    assert summary.parameters == count
    lines = str(summary).splitlines()
    assert lines[0].startswith(f"Writer: {count:,} parameters, ")
    assert lines[2] == "caches of 3 prompts: 73,728 bytes in 4 tensors"
    assert lines[4].split()[:5] == ["board", "prompts", "first", "of", "4"]
    assert len(lines) == 9


def test_more_prompts_than_a_program_takes(module: Any, generator: ttmlir.Generator) -> None:
    """Four prompts are written on in two groups, in their order."""
    prompts = [*PROMPTS, [7, 7]]
    found = generator.generate(prompts, max_new_tokens=4)
    assert [each.tokens for each in found] == [module.write(prompt, 4) for prompt in prompts]


def test_streams_may_be_read_in_turns(module: Any, generator: ttmlir.Generator) -> None:
    """Two streams of one generator do not disturb each other."""
    first, second = (generator.stream(prompt, max_new_tokens=6) for prompt in PROMPTS[:2])
    pairs = list(zip(first, second, strict=True))
    for number, prompt in enumerate(PROMPTS[:2]):
        assert [pair[number].id for pair in pairs] == module.write(prompt, 6)
    assert [pair[0].reason for pair in pairs] == [None] * 5 + ["length"]


def test_a_text_ends_when_the_generator_is_full(module: Any, generator: ttmlir.Generator) -> None:
    """`max_length` counts the prompt; the last token is not read any more."""
    found = generator.generate(PROMPTS, max_new_tokens=100)
    assert [each.reason for each in found] == ["full"] * 3
    assert [len(each.tokens) for each in found] == [33, 29, 39]
    assert found[0].tokens == module.write(PROMPTS[0], 33)


def test_stop_tokens_and_strings(module: Any, generator: ttmlir.Generator) -> None:
    """A stop token is the last one; a text ends before a stop string."""
    wanted = module.write(PROMPTS[0], 12)
    stop = next(token for token in wanted[3:] if token not in wanted[:3])
    found = generator.generate(PROMPTS[0], max_new_tokens=12, stop_tokens=[stop])
    end = wanted.index(stop)
    assert (found.tokens, found.reason) == (wanted[: end + 1], "stop")
    text = Letters().decode(wanted)
    assert found.text == text[:end]
    prompt = Letters().decode(PROMPTS[0])
    found = generator.generate(prompt, max_new_tokens=12, stop_strings=text[4:6])
    assert (found.text, found.reason) == (text[: text.index(text[4:6])], "stop")
    streamed = generator.stream(prompt, max_new_tokens=12, stop_strings=[text[4:6]])
    assert "".join(each.text or "" for each in streamed) == found.text


def test_a_draft_changes_no_token(module: Any, generator: ttmlir.Generator) -> None:
    """Neither one that proposes the right tokens nor one that proposes others; calls are fewer."""
    wanted = [module.write(prompt, 15) for prompt in PROMPTS]
    drawn = generator.generate(PROMPTS, max_new_tokens=15, temperature=1.5, seed=4)
    calls: list[str] = []
    for draft_of in (module, make_writer(1)):
        draft = ttmlir.Generator(
            draft_of, max_length=40, prompt_lengths=(8,), batch_sizes=(1, 3), tokenizer=Letters()
        )
        found = generator.generate(PROMPTS, max_new_tokens=15, draft=draft)
        assert [each.tokens for each in found] == wanted
        found = generator.generate(PROMPTS, max_new_tokens=15, temperature=1.5, seed=4, draft=draft)
        assert [each.tokens for each in found] == [each.tokens for each in drawn]
        run = generator.step

        def note(step: Any, *rest: Any, run: Any = run) -> Any:
            calls.append(step.name)
            return run(step, *rest)

        generator.step = note
        generator.generate(PROMPTS[0], max_new_tokens=15, draft=draft)
        generator.step = run
        calls.append("")
    right, other = " ".join(calls).split("  ")
    # One call reads the prompt, and each of the others writes four tokens at most.
    assert right.split() == ["prefill_8_batch_1"] + ["check_4_batch_1"] * 4
    assert other.count("check") > 4


def test_beams_that_change_places(module: Any, generator: ttmlir.Generator) -> None:
    """Scores are those of torch, which reads each text anew."""
    found = generator.generate(PROMPTS, num_beams=3, max_new_tokens=9)
    for prompt, text in zip(PROMPTS, found, strict=True):
        search = BeamSearch(BeamLimits(3), prompt, len(prompt) + 9, frozenset())
        while not search.is_done:
            tokens = torch.tensor([beam.tokens for beam in search.running])
            with torch.no_grad():
                x = module.table(tokens) + module.places.weight[: tokens.shape[1]]
                search.advance(list(module.head(module.run(x, None))[:, -1].numpy()))
        assert text.tokens == search.finished[0].tokens[len(prompt) :]
        assert text.reason == "length"
    assert [text.tokens for text in found] != [module.write(each, 9) for each in PROMPTS]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_beams": 5}, r"5 beams need a program .* Generator\(model, batch_sizes=\(5,\)\)"),
        ({"num_beams": 0}, "num_beams is from 1 to 1024, not 0"),
        ({"num_beams": 2.5}, "num_beams is a whole number, not 2.5"),
        ({"num_beams": 2, "temperature": 0.5}, "num_beams and temperature do not go together"),
        ({"num_beams": 2, "length_penalty": "1"}, "length_penalty is a number, not '1'"),
        ({"num_beams": 2, "length_penalty": 1e9}, "length_penalty is from -100 to 100"),
        ({"num_beams": 2, "early_stopping": "never"}, "early_stopping is True or False"),
    ],
)
def test_what_does_not_go_with_beams(
    generator: ttmlir.Generator, arguments: dict[str, Any], message: str
) -> None:
    """The message names it."""
    with pytest.raises((ValueError, TypeError), match=message):
        generator.generate([1], **arguments)


def test_draws_do_not_depend_on_other_prompts(generator: ttmlir.Generator) -> None:
    """Equal seeds draw equal tokens after the first prompt, whatever follows it."""
    choices: dict[str, Any] = {"temperature": 1.2, "top_k": 20, "max_new_tokens": 9}
    alone = generator.generate(PROMPTS[0], seed=5, **choices).tokens
    assert generator.generate(PROMPTS, seed=5, **choices)[0].tokens == alone
    assert generator.generate(PROMPTS[0], seed=6, **choices).tokens != alone


def test_generate_in_one_call(module: Any) -> None:
    """Sizes follow from the prompts."""
    found = ttmlir.generate(module, torch.tensor(PROMPTS[0]), max_new_tokens=5)
    assert found == ttmlir.Generation(module.write(PROMPTS[0], 5), "length")


# -- JAX -------------------------------------------------------------------------------------------


PARAMETERS = {
    name: jax.random.normal(key, shape) * 0.6
    for name, shape, key in zip(
        ("table", "places", "query", "key", "value", "out"),
        ((VOCABULARY, 8), (40, 8), (8, 8), (8, 8), (8, 8), (8, VOCABULARY)),
        jax.random.split(jax.random.key(0), 6),
        strict=True,
    )
}


def attend(tokens: Any, starts: Any, cache: Any, keep: Any = lambda array: array) -> Any:
    """A layer with a cache; each prompt begins where it says. Features may be divided."""
    p = PARAMETERS | {name: keep(PARAMETERS[name]) for name in ("query", "key", "value")}
    places = starts[:, None] + jnp.arange(tokens.shape[1])
    x = p["table"][tokens] + p["places"][places]
    rows = jnp.arange(tokens.shape[0])[:, None]
    keys = keep(cache["keys"].at[rows, places].set(x @ p["key"]))
    values = keep(cache["values"].at[rows, places].set(x @ p["value"]))
    scores = jnp.einsum("btd,bsd->bts", x @ p["query"], keys)
    is_seen = jnp.arange(keys.shape[1]) <= places[:, :, None]
    weights = jax.nn.softmax(jnp.where(is_seen, scores, -jnp.inf), axis=-1)
    y = x + jnp.einsum("bts,bsd->btd", weights, values)
    return y @ p["out"] * 4, {"keys": keys, "values": values}


def make_cache(batch: int) -> Any:
    """Zeros."""
    return {name: jnp.zeros((batch, 40, 8)) for name in ("keys", "values")}


def write_with_numpy(prompt: list[int], count: int) -> list[int]:
    """What the function writes if it reads the whole text anew for each token."""
    p = {name: np.asarray(array) for name, array in PARAMETERS.items()}
    tokens = list(prompt)
    for _ in range(count):
        x = p["table"][tokens] + p["places"][: len(tokens)]
        scores = (x[-1] @ p["query"]) @ (x @ p["key"]).T
        weights = np.exp(scores - scores.max())
        y = x[-1] + weights / weights.sum() @ (x @ p["value"])
        tokens.append(int((y @ p["out"]).argmax()))
    return tokens[len(prompt) :]


def test_functions_of_jax() -> None:
    """The cache, which the function returns, stays in the generator."""
    generator = ttmlir.Generator(
        attend, cache=make_cache, max_length=40, prompt_lengths=(4,), batch_sizes=(2,)
    )
    assert generator.name == "attend"
    assert [name for name, _ in generator.programs.decode_batch_2.inputs] == [
        "tokens",
        "starts",
        "last[0]",
    ]
    found = generator.generate(PROMPTS, max_new_tokens=6)
    wanted = [write_with_numpy(prompt, 6) for prompt in PROMPTS]
    assert [each.tokens for each in found] == wanted
    assert [len({*row}) > 2 for row in wanted] == [True] * 3


def test_a_function_that_returns_another_cache() -> None:
    """The next cache is as the one before."""

    def shorten(tokens: Any, starts: Any, cache: Any) -> Any:
        return attend(tokens, starts, cache)[0], {"keys": cache["keys"]}

    message = "the cache that 'shorten' returns is not as the one that it takes"
    with pytest.raises(ttmlir.Error, match=message):
        ttmlir.Generator(shorten, cache=make_cache, max_length=40, prompt_lengths=(4,))


# -- several devices -------------------------------------------------------------------------------


class Attending(nn.Module):
    """A layer of four heads, of which a device computes those that it has."""

    def __init__(self) -> None:
        """Random weights."""
        super().__init__()
        self.table, self.head = nn.Embedding(50, 32), nn.Linear(32, 50)
        self.q, self.k, self.v, self.o = (nn.Linear(32, 32) for _ in range(4))

    def forward(self, tokens: Any, cache: Any) -> Any:
        """Scores after each token, or after the selected ones."""
        x = self.table(tokens)
        batch, length, _ = x.shape
        q, k, v = (
            each(x).view(batch, length, -1, 8).transpose(1, 2) for each in (self.q, self.k, self.v)
        )
        keys, values = cache.update(k, v, 0)
        mixed = nn.functional.scaled_dot_product_attention(q, keys, values, attn_mask=cache.mask())
        x = x + self.o(mixed.transpose(1, 2).reshape(batch, length, -1))
        return self.head(cache.select(x))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("pages", [None, 5])
def test_heads_on_several_devices(pages: int | None) -> None:
    """Each device keeps keys and values of its heads; tokens are those of one device."""
    torch.manual_seed(0)
    model = Attending()
    for weight in model.parameters():
        weight.data *= 2
    sizes: dict[str, Any] = {"max_length": 12, "prompt_lengths": (4,), "batch_sizes": (1,)}
    prompt = [5, 17, 3]
    expected = ttmlir.Generator(model, **sizes).generate(prompt, max_new_tokens=6).tokens
    assert len({*expected}) > 1
    if pages is not None:
        sizes |= {"pages": pages, "page_size": 4}
    with ttmlir.virtual_devices(2):
        mesh = meshes.init_device_mesh("cpu", (1, 2), mesh_dim_names=("data", "model"))
        columns, rows = parallel.ColwiseParallel(), parallel.RowwiseParallel()
        plan = {**dict.fromkeys("qkv", columns), "o": rows}
        parallel.parallelize_module(model, mesh["model"], plan)
        generator = ttmlir.Generator(model, mesh=mesh["model"], board="n300", **sizes)
        with pytest.raises(ttmlir.Error, match="mesh is one axis of a mesh of torch"):
            ttmlir.Generator(model, mesh=mesh, **sizes)
    assert generator.generate(prompt, max_new_tokens=6).tokens == expected


def test_functions_of_jax_on_several_devices() -> None:
    """Each device keeps features of keys and values; tokens are those of one device."""
    mesh = jax.sharding.AbstractMesh((1, 4), ("data", "model"))

    def keep(array: Any) -> Any:
        spec = jax.sharding.PartitionSpec(*(None,) * (array.ndim - 1), "model")
        return jax.lax.with_sharding_constraint(array, jax.sharding.NamedSharding(mesh, spec))

    generator = ttmlir.Generator(
        functools.partial(attend, keep=keep),
        cache=make_cache,
        max_length=40,
        prompt_lengths=(4,),
        batch_sizes=(2,),
    )
    links = generator.programs.decode_batch_2.estimate().links
    assert {(use.axis, use.devices) for use in links} == {(1, 4)}
    found = generator.generate(PROMPTS, max_new_tokens=6)
    assert [each.tokens for each in found] == [write_with_numpy(each, 6) for each in PROMPTS]


def test_meshes_of_functions_of_jax() -> None:
    """Arrays say how they are divided."""
    with pytest.raises(ttmlir.Error, match="mesh= is for torch modules; arrays of JAX"):
        ttmlir.Generator(attend, cache=make_cache, mesh=object())


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "choices", "message"),
    [
        ([], {}, "a prompt has at least one token; there are none"),
        ([[1], []], {}, "prompt 1 is empty; a prompt has at least one token"),
        ([1, 50], {}, "prompt 0: there is no token 50; 'Writer' has 50, from 0 on"),
        ([-1], {}, "prompt 0: there is no token -1"),
        ([1.5], {}, "prompt 0: tokens are whole numbers, not 1.5"),
        (7, {}, "prompts are tokens, or lists of prompts; got a int"),
        ([1] * 40, {}, "prompt 0 has 40 tokens, and max_length is 40"),
        ([1], {"max_new_tokens": 0}, "max_new_tokens is from 1 to 2147483648, not 0"),
        ([1], {"max_new_tokens": "3"}, "max_new_tokens is a whole number, not '3'"),
        ([1], {"stop_tokens": [-1]}, "stop_tokens: a token is from 0 to"),
        ([1], {"stop_tokens": 5}, "stop_tokens are a list; got a int"),
        ([1], {"stop_strings": 5}, "stop_strings are a list; got a int"),
        ([1], {"stop_strings": [""]}, "stop_strings are texts that are not empty, not ('',)"),
        ([1], {"stop_strings": ["a"] * 65}, "stop_strings are at most 64, not 65"),
    ],
)
def test_what_does_not_fit(
    generator: ttmlir.Generator, prompt: Any, choices: dict[str, Any], message: str
) -> None:
    """Both ways to write say it before anything is written."""
    for write in (generator.generate, generator.stream):
        with pytest.raises(ttmlir.InputError, match=re.escape(message)):
            write(prompt, **choices)


def test_texts_need_a_tokenizer(module: Any) -> None:
    """Without one, prompts are tokens, and texts end at tokens."""
    generator = ttmlir.Generator(module, max_length=20, prompt_lengths=(4,))
    with pytest.raises(ttmlir.InputError, match="a prompt that is text needs a tokenizer"):
        generator.generate("ABC")
    with pytest.raises(ttmlir.InputError, match="stop_strings need a tokenizer"):
        generator.generate([1], stop_strings=["A"])
    with pytest.raises(ttmlir.InputError, match="a draft needs a program that checks its tokens"):
        generator.generate([1], draft=generator)
    with pytest.raises(ttmlir.InputError, match="a draft is a Generator, not a Writer"):
        generator.generate([1], draft=module)


def test_a_draft_of_another_vocabulary(generator: ttmlir.Generator) -> None:
    """Sizes of the two have to be equal."""
    draft = ttmlir.Generator(
        attend, cache=make_cache, max_length=40, prompt_lengths=(4,), batch_sizes=(1,)
    )
    message = r"a draft has the same batch_sizes as the model that checks its tokens, \(1, 3\)"
    with pytest.raises(ttmlir.InputError, match=message):
        next(islice(generator.stream([1], draft=draft), 1))


class Forgetful(nn.Module):
    """No attention."""

    def forward(self, tokens: Any, cache: Any) -> Any:
        """Keep nothing."""
        del cache
        return nn.functional.one_hot(tokens.long(), VOCABULARY).float()


class Recurrent(nn.Module):
    """A cache of another kind."""

    def forward(self, tokens: Any, cache: Any) -> Any:
        """Ask for a state."""
        return tokens + cache.conv_states


class Odd(nn.Module):
    """Calls its cache as it is not called, or returns other than scores."""

    def __init__(self, layers: tuple[int, ...], keys: tuple[int, ...], scores: Any) -> None:
        """What it writes, and returns."""
        super().__init__()
        self.layers, self.shape, self.scores = layers, keys, scores

    def forward(self, tokens: Any, cache: Any) -> Any:
        """Write the same keys and values to each of the layers."""
        del tokens
        for layer in self.layers:
            cache.update(torch.ones(self.shape), torch.ones(self.shape), layer)
        return self.scores


SHAPE = (1, 2, 1, 8)


def attend_last(tokens: Any, starts: Any, cache: Any) -> Any:
    """Scores of the last token alone."""
    scores, new = attend(tokens, starts, cache)
    return scores[:, -1], new


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        (
            attend_last,
            {"cache": make_cache, "prompt_lengths": (4,)},
            "'attend_last' returns scores of the shape (1, 50) for 1 x 1 tokens",
        ),
        (Odd((0, 1, 0), SHAPE, None), {}, "cache.update is called twice with the layer 0"),
        (Odd((3,), (1, 1, 8), None), {}, "the keys of the layer 3 have the shape (1, 1, 8)"),
        (Odd((0,), (1, 1, 2, 8), None), {}, "takes prompts x heads x tokens x size"),
        (Odd((0,), SHAPE, None), {}, "'Odd' returns a NoneType for 1 prompt of 1 token"),
        (Odd((0,), SHAPE, torch.ones(1, 9)), {}, "'Odd' returns the shape (1, 9)"),
        (Forgetful(), {}, "'Forgetful' wrote nothing to its cache"),
        (Recurrent(), {}, "'Recurrent' asks its cache for 'conv_states'"),
        (Writer(), {"cache": make_cache}, "cache= is for functions of JAX"),
        (attend, {}, "a function of JAX needs its cache"),
        (torch.nn.Linear(2, 2), {}, "a Generator calls Linear(tokens, cache), which is not possi"),
        (jnp.sin, {"cache": make_cache}, "a Generator calls sin(tokens, starts, cache), which is"),
        (attend, {"cache": 3}, "a Generator calls cache(prompts), which is not possible: 3 is not"),
        ("model", {}, "a Generator takes torch modules and functions of JAX, not a str"),
        (Writer(), {"max_length": 1}, "max_length is from 2 to"),
        (Writer(), {"pages": 0}, "pages is from 1 to"),
        (Writer(), {"pages": 4, "draft_length": 2}, "pages and draft_length do not go together"),
        (attend, {"pages": 4, "cache": make_cache}, "pages= is for torch modules"),
        (Writer(), {"prompt_lengths": 8}, "prompt_lengths are whole numbers in a list, not 8"),
        (Writer(), {"batch_sizes": [0]}, "batch_sizes is from 1 to 1048576, not 0"),
        (Writer(), {"batch_sizes": []}, "batch_sizes are one or more whole numbers"),
        (Writer(), {"numerics": "fast"}, "numerics are 'exact' or 'device', not 'fast'"),
    ],
)
def test_models_that_do_not_fit(model: Any, arguments: dict[str, Any], message: str) -> None:
    """What a generator takes is said."""
    with pytest.raises(ttmlir.InputError, match=re.escape(message)):
        ttmlir.Generator(model, **arguments)
