"""A network of two layers, with weights of torch."""

import torch
import ttnn

torch.manual_seed(0)


class MLP(torch.nn.Module):
    """Pictures of 28x28 to ten probabilities."""

    def __init__(self):
        """Make the layers."""
        super().__init__()
        self.fc1 = torch.nn.Linear(784, 128)
        self.fc2 = torch.nn.Linear(128, 10)

    def forward(self, x):
        """Compute the probabilities."""
        return torch.softmax(self.fc2(torch.relu(self.fc1(x))), dim=-1)


model = MLP().eval()
device = ttnn.open_device(device_id=0)
device.enable_program_cache()
w1 = ttnn.from_torch(
    model.fc1.weight.T.contiguous(), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
)
b1 = ttnn.from_torch(model.fc1.bias, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
w2 = ttnn.from_torch(model.fc2.weight, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT, device=device)
w2 = ttnn.permute(w2, (1, 0))
b2 = ttnn.from_torch(
    model.fc2.bias.unsqueeze(0), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
)
x = torch.rand(32, 1, 28, 28)
inp = ttnn.from_torch(
    x.view(32, -1),
    dtype=ttnn.bfloat16,
    layout=ttnn.TILE_LAYOUT,
    device=device,
    memory_config=ttnn.L1_MEMORY_CONFIG,
)
h = ttnn.linear(
    inp,
    w1,
    bias=b1,
    activation="relu",
    memory_config=ttnn.L1_MEMORY_CONFIG,
    core_grid=ttnn.CoreGrid(y=8, x=8),
)
ttnn.deallocate(inp)
out = ttnn.linear(
    h,
    w2,
    bias=b2,
    compute_kernel_config=ttnn.WormholeComputeKernelConfig(
        math_fidelity=ttnn.MathFidelity.HiFi4,
        math_approx_mode=True,
        fp32_dest_acc_en=False,
        packer_l1_acc=False,
    ),
)
probs = ttnn.softmax(out, dim=-1, numeric_stable=True)
pred = ttnn.argmax(probs, dim=-1)
res = ttnn.to_torch(probs)
print(res.shape, res.dtype, pred)
with torch.no_grad():
    ref = model(x.view(32, -1))
assert ttnn.pearson_correlation_coefficient(ref, res) > 0.99
print(ttnn.to_torch(pred).flatten()[:5], ref.argmax(-1)[:5])
print(f"cache entries {device.num_program_cache_entries()}")
params = ttnn.model_preprocessing.preprocess_model_parameters(
    initialize_model=lambda: model, device=device
)
y = ttnn.from_torch(x.reshape(32, 784), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
y = ttnn.relu(ttnn.matmul(y, params.fc1.weight) + params.fc1.bias)
print(y.shape, y.memory_config().buffer_type, y.get_layout())
ttnn.close_device(device)
