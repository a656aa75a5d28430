"""A loop that generates tokens, with a trace and two queues."""

import torch
import ttnn

torch.manual_seed(4)
V, H, S = 128, 64, 8
device = ttnn.open_device(device_id=0, trace_region_size=1 << 20, num_command_queues=2)
ttnn.SetDefaultDevice(device)
emb = ttnn.from_torch(
    torch.randn(V, H), dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device
)
head = ttnn.from_torch(
    torch.randn(H, V), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
)
g = ttnn.ones((1, H), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
tokens = [3]


def step(ids):
    """The scores of the next token."""
    x = ttnn.embedding(ids, emb, layout=ttnn.TILE_LAYOUT)
    x = ttnn.rms_norm(x, weight=g, epsilon=1e-6)
    x = x + ttnn.silu(x)
    logits = ttnn.linear(x, head)
    return logits


ids = ttnn.from_torch(
    torch.tensor([[tokens[0]]], dtype=torch.int32), dtype=ttnn.uint32, device=device
)
step(ids)
tid = ttnn.begin_trace_capture(device, cq_id=0)
logits = step(ids)
ttnn.end_trace_capture(device, tid, cq_id=0)
for _ in range(5):
    host = ttnn.from_torch(torch.tensor([[tokens[-1]]]), dtype=ttnn.uint32)
    ttnn.copy_host_to_device_tensor(host, ids, cq_id=1)
    ev = ttnn.record_event(device, 1)
    ttnn.wait_for_event(0, ev)
    ttnn.execute_trace(device, tid, cq_id=0, blocking=False)
    ttnn.synchronize_device(device)
    last = logits[:, -1, :]
    rm = ttnn.untilize(last)
    nxt = ttnn.argmax(rm, dim=-1, keepdim=False, use_multicore=True)
    vals, idx = ttnn.topk(last, k=4, dim=-1, largest=True, sorted=True)
    assert ttnn.to_torch(idx)[0, 0].item() == nxt.cpu().to_torch().item(), (idx, nxt)
    tokens.append(int(ttnn.to_torch(nxt).item()))
    if (vals < 0).cpu().to_torch().any():
        print("negative")
    p = ttnn.softmax(vals / 0.7, dim=-1)
    c = ttnn.cumsum(p, dim=-1)
    print(tokens, ttnn.to_torch(c)[0, -1].item())
print("done")
ttnn.release_trace(device, tid)
ttnn.close_device(device)
