"""Operations that move, select and write elements, against torch."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from samples.torch_programs import check_all

torch: Any = import_module("torch")


def numbers(*shape: int) -> Any:
    """Different numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def test_views() -> None:
    """The same elements under another shape or in another order."""
    check_all(
        """
        x.reshape(-1)
        x.view(10, 21)
        x.reshape(2, 1, 3, 5, 7, 1)
        x.flatten(1)
        x.unflatten(0, (2, 3))
        x.unsqueeze(-1)
        x[None, :, None]
        x.unsqueeze(0).squeeze(0)
        x.unsqueeze(0).squeeze()
        x.permute(2, 0, 1)
        x.transpose(0, -1)
        x.mT
        x[0].t()
        x.movedim(0, -1)
        x.swapaxes(0, 1)
        x.expand(2, 6, 5, 7)
        x[:, :1].expand(-1, 4, -1)
        x.contiguous()
        x.view(-1, 3, 2).reshape(6, 5, 7)
        F.pixel_shuffle(x.reshape(1, 6, 5, 7).repeat(1, 2, 1, 1), 2)
        F.channel_shuffle(x[None], 3)
        torch.broadcast_to(x[:1], (2, 5, 7))
        x.as_strided((5, 7), (7, 1), 35)
        x.as_strided((9, 3, 4), (20, 2, 1), 3)
        (2 * x).permute(2, 0, 1).as_strided((4, 6), (3, 35), 2)
        """,
        x=numbers(6, 5, 7),
    )


def test_views_of_numbers() -> None:
    """Tensors of no dimension and of one element."""
    check_all(
        """
        x.reshape(())
        x.squeeze()
        x.reshape(1, 1, 1).squeeze()
        x.reshape(()).reshape(1)
        x.reshape(())[None, None]
        x.reshape(()).expand(3, 2)
        x[0]
        x.flatten()
        x.reshape(()).flatten()
        torch.stack([x[0], x[0] + 1])
        """,
        x=numbers(1),
    )


def test_parts() -> None:
    """Slices, selections, splits and what is put together of them."""
    check_all(
        """
        x[1:4]
        x[-4:-1, ::2]
        x[..., 2]
        x[:, -1]
        x[2:, 1:3, ::3]
        x[5:2]
        x.select(1, -2)
        x.narrow(0, 1, 3)
        x.chunk(4)
        x.split(2, dim=2)
        x.split([1, 4], dim=1)
        x.unbind(1)
        x.tensor_split(3, dim=0)
        torch.cat([x, x * 2], 0)
        torch.cat([x, x[:, :2]], 1)
        torch.cat([x, torch.ones(0)], 0)
        torch.stack([x, x + 1], -1)
        torch.hstack([x, x])
        torch.vstack([x, x])
        torch.dstack([x, x])
        x.repeat(2, 1, 3)
        x.repeat(2, 1, 1, 1)
        x.tile(2)
        x.repeat_interleave(2, dim=1)
        x.flip(0, 2)
        x.flip(-1)
        x.roll(2)
        x.roll((1, -2), (0, 2))
        torch.rot90(x)
        x.diagonal()
        x.diagonal(1, 0, 2)
        x.diagonal(-2)
        torch.diag_embed(x[0])
        x.tril()
        x.triu(1)
        x[0].trace()
        x.unfold(2, 3, 2)
        torch.slice_scatter(x, x[1:3] * 2, 0, 2, 4)
        torch.slice_scatter(x, x[:, :, 1:4] * 2, 2, 1, 7, 2)
        torch.select_scatter(x, x[0] * 2, 0, -1)
        torch.block_diag(x[0], x[1])
        torch.meshgrid(x[0, 0], x[:, 0, 0], indexing="ij")
        """,
        x=numbers(6, 5, 7),
    )


def test_padding() -> None:
    """Constants and reflections around a tensor."""
    check_all(
        """
        F.pad(x, (1, 2))
        F.pad(x, (1, 2, 0, 3), value=2.5)
        F.pad(x, (-1, 2, 0, -2), value=-1.0)
        F.pad(x, (0, 0, 0, 0, 1, 0))
        F.pad(x, (1, 2), mode="reflect")
        F.pad(x[None], (1, 2, 2, 1), mode="reflect")
        F.pad(x, (2, 1), mode="replicate")
        F.pad(x, (1, 1), mode="circular")
        """,
        x=numbers(3, 5, 7),
    )


def test_numbers_that_f32_does_not_hold() -> None:
    """Padding and bounds of integers and of f64, which parameters of operations would round."""
    check_all(
        """
        F.pad(i, (1, 0), value=16777217)
        F.pad(x, (1, -1, 2, 0), value=0.1)
        F.hardtanh(x, -0.1, 0.7)
        x.clamp(min=0.1)
        """,
        tolerance=1e-14,
        x=numbers(3, 5).double(),
        i=torch.tensor([[3, -7]], dtype=torch.int32),
    )


def test_creation() -> None:
    """Tensors made of numbers, which torch computes while the program is read."""
    check_all(
        """
        x + torch.arange(7)
        x + torch.arange(7, 0, -1)
        x * torch.arange(0, 3.5, 0.5)
        x + torch.linspace(0, 1, 7)
        x + torch.full((5, 7), 2.5)
        x + torch.zeros(7) + torch.ones(5, 1)
        torch.zeros_like(x)
        torch.ones_like(x, dtype=torch.int64)
        torch.full_like(x, 3)
        x.new_full((2, 2), 1.5)
        x.new_zeros(2)
        torch.eye(5) @ x
        torch.tensor([1.0, 2.0]) + x[0, 0]
        torch.tril_indices(3, 3)
        x.masked_fill(torch.ones(5, 7).tril() == 0, -1.0)
        torch.scalar_tensor(2.0) * x
        torch.empty_like(x).fill_(2)
        torch.full((300, 300), 2.0)
        """,
        x=numbers(5, 7),
    )


def test_selection_by_numbers() -> None:
    """Elements looked up by tensors of numbers, from the end too."""
    check_all(
        """
        x[i]
        x[:, j]
        x[i, j]
        x[i, :, j]
        x[i[:, None], j]
        x[..., i]
        x[0, i]
        x[[2, 0, -1]]
        x[[2]]
        x[torch.tensor([-1])]
        x[:, torch.tensor([3])]
        x.index_select(1, torch.tensor([2]))
        x[:, [1, 2, 3]]
        x[:, torch.tensor([0, 2, 4])]
        x[torch.tensor([0, 1]), torch.tensor([[2], [-1]])]
        x[i[0]]
        x[:, i[1], 1:3]
        x.narrow(0, j[0].item(), 2)
        x.index_select(1, j.abs())
        x.index_select(2, torch.tensor([1, 3, 5]))
        x.gather(1, k)
        x.gather(-1, k)
        x.gather(0, torch.zeros(2, 5, 7, dtype=torch.int64))
        x.take_along_dim(k[:1, :1], 2)
        torch.take(x, k)
        F.embedding(k, x[0])
        F.embedding(i.abs(), x[0].t())
        F.embedding(i.abs()[0], x[0])
        F.one_hot(k, 5)
        """,
        x=numbers(6, 5, 7),
        i=torch.tensor([0, -2, 3]),
        j=torch.tensor([4, 0, -1]),
        k=torch.randint(0, 5, (2, 3, 4), generator=torch.Generator().manual_seed(1)),
    )


def test_writing_by_numbers() -> None:
    """Elements written to the places with these numbers."""
    check_all(
        """
        x.scatter(1, k, x * 2)
        x.scatter(0, k, 7.0)
        x.scatter_add(1, k, x)
        x.scatter_reduce(1, k, x, "amax")
        x.scatter_reduce(0, k[:1], x, "prod")
        x.index_put((i,), x[:3] * 2)
        x.index_put((i, j), torch.tensor(3.0))
        x.index_put((torch.tensor([0, -1]), torch.tensor([1, 2])), x[:2, 0])
        x.index_put((i,), x[0], accumulate=True)
        _put(x, (slice(None), j), x[:, :1] * 2)
        _put(x, (i, slice(None), j), x[:3, :, 0])
        _put(x, (slice(1, 4), j), x[0, 0])
        _put(x, (..., i), 1.0)
        torch.select_scatter(x, x[0], 0, i[1].item())
        _put(x, p, x[0])
        _put(x, (slice(None), p), x[:, 3] * 2)
        _put(x, (1, ..., p), x[:, 3, 0:1].mT[:, :5])
        _put(x, (p, slice(1, 3), -p), 2.0)
        _put(x, (slice(None), p, None), x[:, 1:2])
        _put(x, x > 0.25, 0.5)
        x.index_add(0, i.abs(), x[:3])
        x.index_copy(1, j.abs(), x[:, :3] * 2)
        x.index_fill(0, i.abs(), -1.0)
        x.masked_fill(x > 0, 2.0)
        torch.index_put(x, (x > 0.5,), torch.tensor(1.0))
        torch.index_put(x, (x[:, 0, 0] > 0,), torch.tensor(1.0))
        """,
        x=numbers(6, 5, 7),
        i=torch.tensor([0, -2, 3]),
        j=torch.tensor([4, 0, 2]),
        p=torch.tensor(2),
        k=torch.rand(4, 3, 7, generator=torch.Generator().manual_seed(1)).argsort(1),
        names={"_put": _put},
    )


def _put(x: Any, places: Any, values: Any) -> Any:
    y = x.clone()
    y[places] = values
    return y


def test_places_in_batches() -> None:
    """Under `vmap`: another place for each element of the batch, which may go to any dimension."""
    check_all(
        """
        torch.vmap(lambda x, p: x[p])(x, p)
        torch.vmap(lambda p: x[1, :, p - 4])(p)
        torch.vmap(lambda x, p: x[None, ..., p + 1], out_dims=1)(x, p)
        torch.vmap(lambda x, p: _put(x, (p, slice(1, 3)), 7.0))(x, p)
        torch.vmap(lambda x, p: _put(x, (..., p - 1), x[:, p]), (0, 0), -1)(x, p)
        torch.vmap(torch.vmap(lambda x: (2 * x, x.sum()), out_dims=(1, 0)), 1, (2, 0))(x)[0]
        """,
        x=numbers(3, 4, 5),
        p=torch.tensor([0, 3, 1]),
        names={"_put": _put},
    )


def test_places_of_extremes() -> None:
    """Where the largest and smallest elements are; running sums."""
    check_all(
        """
        x.argmax()
        x.argmax(1)
        x.argmin(0, keepdim=True)
        x.max(1)
        x.min(2)
        n.argmin(1)
        n.max(0)
        (x > 0).float().argmax(2)
        x.cumsum(0)
        x.cumsum(-1)
        n.cumsum(1)
        x[0, 0, 0].cumsum(0)
        (x > 0).cumsum(1)
        """,
        x=numbers(6, 5, 7),
        n=torch.tensor([[3, -(2**31), 5], [2**31 - 1, 7, -1]]),
    )


def test_changes_in_place() -> None:
    """Changes of values that the program made itself."""
    check_all(
        """
        x.clone().add_(1)
        x.clone().mul_(x).clamp_(0, 1)
        _assigned(x)
        x.clone().fill_(3)
        x.clone().masked_fill_(x > 0, 0)
        x.clone().copy_(x[0])
        """,
        x=numbers(4, 5),
        names={"_assigned": _assigned},
    )


def test_writes_to_places_in_memory() -> None:
    """Diagonals of wide, tall and cubic tensors, and windows, also of what is not in order."""
    check_all(
        """
        x.clone().fill_diagonal_(3)
        x.clone().t().fill_diagonal_(3)
        x.clone().fill_diagonal_(3, wrap=True)
        x.clone()[None].expand(2, -1, -1).clone()[1].fill_diagonal_(0)
        (x > 0).fill_diagonal_(True)
        x[:4].reshape(2, 2, 3)[..., :2].clone().fill_diagonal_(7)
        torch.as_strided_scatter(x, x[:2] * 2, (2, 3), (6, 1), 4)
        torch.as_strided_scatter(2 * x.t(), x[:2, :2], (2, 2), (1, 7), 2)
        torch.as_strided_scatter(x, x[0, 0], (), (), 5)
        torch.as_strided_scatter(x, x[:0], (0, 3), (3, 1))
        """,
        x=numbers(8, 3),
    )


def _assigned(x: Any) -> Any:
    y = x.clone()
    y[1:3, 0] = 5
    y[:, -1] += x[:, 0]
    y[0] = x[1]
    return y


@settings(max_examples=10)
@given(st.data())
def test_slices_and_padding_at_random(data: st.DataObject) -> None:
    """Any bounds, steps and counts, some of them outside."""
    shape = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    bound = st.none() | st.integers(-7, 7)
    cases: list[str] = []
    for _ in range(6):
        parts = [
            f"{'' if begin is None else begin}:{'' if end is None else end}:{step}"
            for begin, end, step in (
                data.draw(st.tuples(bound, bound, st.integers(1, 3))) for _ in shape
            )
        ]
        cases.append(f"x[{', '.join(parts)}]")
    for _ in range(3):
        counts = data.draw(st.lists(st.integers(0, 3), min_size=2, max_size=2 * len(shape)))
        cases.append(f"F.pad(x, {counts[: len(counts) // 2 * 2]}, value=1.5)")
    check_all("\n".join(cases), x=numbers(*shape))
