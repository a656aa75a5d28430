"""Calls that set a route and a command and send, over one connection and over several."""

from __future__ import annotations

import pytest

from test.metalium.fabric_programs import (
    CORE,
    INCLUDES,
    RECEIVER,
    add_kernel,
    allocate,
    open_fabric,
    printed,
    run,
    send,
    sum_of,
)
from ttmlir.metalium import (
    CreateGlobalSemaphore,
    CreateKernelFromString,
    CreateProgram,
    DataMovementConfig,
    SetRuntimeArgs,
    tt_fabric,
)
from ttmlir.metalium.distributed import MeshDevice
from ttmlir.metalium.tt_fabric import FabricConfig, FabricNodeId
from ttmlir.sim.errors import SimError

BEGIN = (
    INCLUDES
    + """
namespace calls = tt::tt_fabric::linear::experimental;
void kernel_main() {
    std::size_t arg = 0;
    const uint32_t data = get_arg_val<uint32_t>(arg++);
    const uint32_t semaphore = get_arg_val<uint32_t>(arg++);
    const uint32_t size = get_arg_val<uint32_t>(arg++);
    const uint32_t count = get_arg_val<uint32_t>(arg++);
    const uint64_t target = get_noc_addr(my_x[0], my_y[0], data + 8192);
    const uint64_t word = get_noc_addr(my_x[0], my_y[0], semaphore);
    auto* words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(data);
    for (uint32_t i = 0; i < size / 4; i++) {
        words[i] = 5 + 7 * i;
    }
"""
)

ONE = (
    BEGIN
    + """
    auto sender = WorkerToFabricEdmSender::build_from_args<ProgrammableCoreType::TENSIX>(arg);
    auto* header = PacketHeaderPool::allocate_header();
    sender.open();
    ROUTE
    noc_async_writes_flushed();
    sender.close();
}
"""
)

INCREMENT = """
    noc_async_writes_flushed();
    calls::fabric_unicast_noc_unicast_atomic_inc(
        &sender, header, NocUnicastAtomicIncCommandHeader{word, 1}, 1);
"""

CALLS = {
    "unicast": "calls::fabric_unicast_noc_unicast_write("
    "&sender, header, data, size, NocUnicastCommandHeader{target}, 1);" + INCREMENT,
    "with state": """
    using Mask = UnicastWriteUpdateMask;
    calls::fabric_unicast_noc_unicast_write_set_state<Mask::PayloadSize>(header, 1, nullptr, size);
    calls::fabric_unicast_noc_unicast_write_with_state<Mask::DstAddr>(
        &sender, header, data, NocUnicastCommandHeader{target});
    """
    + INCREMENT,
    "fused": """
    calls::fabric_multicast_noc_fused_unicast_with_atomic_inc(
        &sender, header, data, size, NocUnicastAtomicIncFusedCommandHeader{target, word, 1}, 1, 1);
    """,
    "scatter": """
    const uint64_t parts[3] = {target, target + 16, target + 48};
    const uint16_t sizes[2] = {16, 32};
    using Mask = UnicastScatterWriteUpdateMask;
    calls::fabric_unicast_noc_scatter_write_set_state<Mask::ChunkSizes | Mask::PayloadSize>(
        header, 1, NocUnicastScatterCommandHeader(parts, sizes, 3), size);
    calls::fabric_unicast_noc_scatter_write_with_state<Mask::DstAddrs>(
        &sender, header, data, NocUnicastScatterCommandHeader(parts, sizes, 3));
    """
    + INCREMENT,
    "fused scatter": """
    calls::fabric_unicast_noc_fused_scatter_write_atomic_inc(
        &sender, header, data, size,
        NocUnicastScatterAtomicIncFusedCommandHeader({target, target + 32}, word, {32}, 1), 1);
    """,
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_over_one_connection(name: str) -> None:
    """All that was sent is there when the semaphore says so."""
    with open_fabric(FabricConfig.FABRIC_1D, "n300", (1, 2)) as mesh:
        send(mesh, CALLS[name], [1], size=80, sender=ONE)
        assert printed(mesh) == {1: [sum_of(80)]}


def test_an_inline_write() -> None:
    """A word without a payload."""
    call = """
    calls::fabric_unicast_noc_unicast_inline_write(
        &sender, header, NocUnicastInlineWriteCommandHeader{target, 4711}, 1);
    """
    with open_fabric(FabricConfig.FABRIC_1D, "n300", (1, 2)) as mesh:
        send(mesh, call + INCREMENT, [1], size=4, sender=ONE)
        assert printed(mesh) == {1: [4711]}


MANY = (
    BEGIN
    + """
    uint8_t starts[2] = {1, 1};
    uint8_t hops[2] = {get_compile_time_arg_val(0), get_compile_time_arg_val(1)};
    RoutingPlaneConnectionManager manager;
    open_connections(manager, 2, arg);
    const uint8_t route = PacketHeaderPool::allocate_header_n(2);
    CALLS
    noc_async_writes_flushed();
    close_connections(manager);
}
"""
)

IN_STEPS = (
    BEGIN
    + """
    using Manager = RoutingPlaneConnectionManager;
    auto manager =
        Manager::build_from_args<Manager::BUILD_AND_OPEN_CONNECTION_START_ONLY>(arg, 2);
    manager.open_finish();
    for (uint32_t i = 0; i < 2; i++) {
        const auto chip = manager.get(i).dst_dev_id;
        DPRINT << (uint32_t)get_next_hop_router_direction(0, chip) << manager.get_tag(i) << ENDL();
    }
    manager.close();
}
"""
)
MANY_CALLS = {
    "unicast": """
    calls::fabric_unicast_noc_unicast_write(
        manager, route, data, size, NocUnicastCommandHeader{target}, hops);
    noc_async_writes_flushed();
    calls::fabric_unicast_noc_unicast_atomic_inc(
        manager, route, NocUnicastAtomicIncCommandHeader{word, 1}, hops);
    """,
    "multicast": """
    using Mask = UnicastFusedAtomicIncUpdateMask;
    calls::fabric_multicast_noc_fused_unicast_with_atomic_inc_set_state<Mask::All>(
        manager, route, starts, hops, NocUnicastAtomicIncFusedCommandHeader{target, word, 1}, size);
    calls::fabric_multicast_noc_fused_unicast_with_atomic_inc_with_state(manager, route, data);
    """,
}


def send_both_ways(mesh: MeshDevice, call: str, hops: tuple[int, int], there: list[int]) -> None:
    """Send from the second device of a row of four, over links to its neighbours."""
    semaphore, data = CreateGlobalSemaphore(mesh, CORE, 0), allocate(mesh)
    programs = {1: CreateProgram()}
    text = call if "kernel_main" in call else MANY.replace("CALLS", call)
    config = DataMovementConfig(compile_args=list(hops))
    kernel = CreateKernelFromString(programs[1], text, CORE, config)
    given = [data.address(), semaphore.address(), 64, 1]
    nodes = [FabricNodeId(0, each) for each in mesh.get_device_ids()]
    tt_fabric.append_routing_plane_connection_manager_rt_args(
        nodes[1], [nodes[2], nodes[0]], [], programs[1], kernel, CORE, given
    )
    SetRuntimeArgs(programs[1], kernel, CORE, given)
    for each in there:
        programs[each] = CreateProgram()
        add_kernel(programs[each], RECEIVER, [data.address(), semaphore.address(), 64])
    run(mesh, programs)


@pytest.mark.parametrize("config", [FabricConfig.FABRIC_1D, FabricConfig.FABRIC_2D])
def test_calls_over_several_connections(config: FabricConfig) -> None:
    """Each connection has a header, with a route of its own."""
    far = 2 if config is FabricConfig.FABRIC_2D else 3
    with open_fabric(config, "p150x8", (1, 4)) as mesh:
        # In two dimensions a route leads to the chip that the connection was made for.
        send_both_ways(mesh, MANY_CALLS["unicast"], (2, 1), [0, far])
        assert printed(mesh) == {0: [sum_of(64)], far: [sum_of(64)]}
    with open_fabric(config, "p150x8", (1, 4)) as mesh:
        send_both_ways(mesh, MANY_CALLS["multicast"], (2, 1), [0, 2, 3])
        assert printed(mesh) == {each: [sum_of(64)] for each in (0, 2, 3)}


MESH_CALLS = {
    "unicast": """
    namespace chips = tt::tt_fabric::mesh::experimental;
    chips::fabric_unicast_noc_fused_unicast_with_atomic_inc(
        manager, route, data, size, NocUnicastAtomicIncFusedCommandHeader{target, word, 1});
    """,
    "multicast": """
    namespace chips = tt::tt_fabric::mesh::experimental;
    chips::MeshMcastRange ranges[2] = {{hops[0], 0, 0, 0}, {0, hops[1], 0, 0}};
    chips::fabric_multicast_noc_unicast_write_set_state<UnicastWriteUpdateMask::DstAddr>(
        manager, route, ranges, NocUnicastCommandHeader{target});
    chips::fabric_multicast_noc_unicast_write_with_state<UnicastWriteUpdateMask::PayloadSize>(
        manager, route, data, nullptr, size);
    noc_async_writes_flushed();
    chips::fabric_multicast_noc_unicast_atomic_inc(
        manager, route, ranges, NocUnicastAtomicIncCommandHeader{word, 1});
    """,
}


@pytest.mark.parametrize(("name", "there"), [("unicast", [0, 2]), ("multicast", [0, 2, 3])])
def test_calls_for_chips_by_their_numbers(name: str, there: list[int]) -> None:
    """Each connection has the number of the chip that it was made for."""
    with open_fabric(FabricConfig.FABRIC_2D, "p150x8", (1, 4)) as mesh:
        send_both_ways(mesh, MESH_CALLS[name], (2, 1), there)
        assert printed(mesh) == {each: [sum_of(64)] for each in there}


def test_connections_are_opened_once_in_steps() -> None:
    """What is begun when a manager is built is no connection yet; tags are directions."""
    with open_fabric(FabricConfig.FABRIC_2D, "p150x8", (1, 4)) as mesh:
        send_both_ways(mesh, IN_STEPS, (1, 1), [])
        lines = [line.partition(": ")[2] for line in mesh.get_devices()[1].printed]
        assert lines == ["00", "11"]
        unknown = IN_STEPS.replace("(0, chip)", "(0, chip + 8)")
        with pytest.raises(SimError, match="no link leads to chip 10; other chips of the mesh are"):
            send_both_ways(mesh, unknown, (1, 1), [])
