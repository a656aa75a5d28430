"""Convolutions, poolings and norms of images."""

import torch
import torch.nn.functional as F
import ttnn

torch.manual_seed(2)
device = ttnn.open_device(device_id=0, l1_small_size=24576)
N, C, H, W = 4, 3, 32, 32
x = torch.randn(N, C, H, W)
conv1 = torch.nn.Conv2d(3, 16, 3, padding=1)
conv2 = torch.nn.Conv2d(16, 32, 3, stride=2, padding=1)
bn = torch.nn.BatchNorm2d(16).eval()
fc = torch.nn.Linear(32 * 8 * 8, 10)
w, b = ttnn.model_preprocessing.fold_batch_norm2d_into_conv2d(conv1, bn)
xin = ttnn.from_torch(
    x.permute(0, 2, 3, 1), dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device
)
cfg = ttnn.Conv2dConfig(
    weights_dtype=ttnn.bfloat16,
    activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU),
    shard_layout=ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
    deallocate_activation=True,
    reshard_if_not_optimal=True,
)
compute = ttnn.init_device_compute_kernel_config(
    device.arch(), math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True
)
tw = ttnn.from_torch(w, dtype=ttnn.float32)
tb = ttnn.from_torch(b.reshape(1, 1, 1, -1), dtype=ttnn.float32)
y, [oh, ow], [tw, tb] = ttnn.conv2d(
    input_tensor=xin,
    weight_tensor=tw,
    bias_tensor=tb,
    in_channels=3,
    out_channels=16,
    device=device,
    kernel_size=(3, 3),
    stride=(1, 1),
    padding=(1, 1),
    dilation=(1, 1),
    batch_size=N,
    input_height=H,
    input_width=W,
    conv_config=cfg,
    compute_config=compute,
    groups=1,
    return_output_dim=True,
    return_weights_and_bias=True,
    dtype=ttnn.bfloat16,
)
print(y.shape, oh, ow, tw.shape)
y = ttnn.max_pool2d(
    input_tensor=y,
    batch_size=N,
    input_h=oh,
    input_w=ow,
    channels=16,
    kernel_size=[2, 2],
    stride=[2, 2],
    padding=[0, 0],
    dilation=[1, 1],
)
y2, (oh2, ow2) = ttnn.conv2d(
    input_tensor=y,
    weight_tensor=ttnn.from_torch(conv2.weight.detach(), ttnn.bfloat16),
    bias_tensor=ttnn.from_torch(conv2.bias.detach().reshape(1, 1, 1, -1), ttnn.bfloat16),
    in_channels=16,
    out_channels=32,
    device=device,
    kernel_size=(3, 3),
    stride=(2, 2),
    padding=(1, 1),
    batch_size=N,
    input_height=oh // 2,
    input_width=ow // 2,
    return_output_dim=True,
    conv_config=ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat8_b, activation="relu"),
)
print(y2.shape, y2.memory_config(), y2.layout)
y2 = ttnn.sharded_to_interleaved(y2, ttnn.L1_MEMORY_CONFIG) if y2.is_sharded() else y2
y2 = ttnn.to_layout(y2, ttnn.ROW_MAJOR_LAYOUT)
y2 = ttnn.reshape(y2, (N, oh2, ow2, 32))
flat = ttnn.permute(y2, (0, 3, 1, 2))
flat = ttnn.reshape(flat, (N, -1))
flat = ttnn.to_layout(flat, ttnn.TILE_LAYOUT)
logits = ttnn.linear(
    flat,
    ttnn.from_torch(fc.weight.detach().T, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device),
    bias=ttnn.from_torch(
        fc.bias.detach()[None], ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
    ),
)
with torch.no_grad():
    ref = fc(F.relu(conv2(F.max_pool2d(F.relu(bn(conv1(x))), 2))).flatten(1))
assert ttnn.pearson_correlation_coefficient(ref, ttnn.to_torch(logits)) > 0.99
g = ttnn.global_avg_pool2d(y2)
print(g.shape)
a = ttnn.avg_pool2d(
    input_tensor=ttnn.reshape(y2, (1, 1, N * oh2 * ow2, 32)),
    batch_size=N,
    input_h=oh2,
    input_w=ow2,
    channels=32,
    kernel_size=[2, 2],
    stride=[2, 2],
    padding=[0, 0],
    ceil_mode=False,
    count_include_pad=True,
    divisor_override=None,
    applied_shard_scheme=ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
)
print(a.shape)
gn = ttnn.group_norm(
    ttnn.reshape(y2, (N, 1, oh2 * ow2, 32)),
    num_groups=4,
    input_mask=ttnn.to_device(ttnn.create_group_norm_input_mask(32, 4, 1, ttnn.bfloat8_b), device),
    weight=None,
    bias=None,
    core_grid=ttnn.CoreGrid(y=1, x=1),
    inplace=False,
    output_layout=ttnn.TILE_LAYOUT,
)
print(gn.shape, ttnn.upsample(y2, 2).shape)
ttnn.close_device(device)
