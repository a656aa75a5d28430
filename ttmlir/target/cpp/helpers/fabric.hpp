#ifdef FABRIC_2D
#error "kernels that send over the fabric are for routes in one dimension"
#endif

namespace experimental {

// The devices around, and the connections to the next ones. The host describes both in the first
// runtime arguments: their number, a line or a ring, the dimension of the mesh that routes are in,
// the way of routing and its direction, the two extents of the mesh, the directions along each, and
// the devices in the order of the mesh; then the number of arguments of connections, the number of
// connections, and these.
struct FabricConnectionManager {
  static constexpr uint32_t kLargestMesh = 32, kForward = 0, kRing = 0;
  uint32_t kind = 0, dim = 0, direction = 0;
  std::array<uint32_t, 2> shape{};
  std::array<std::array<uint32_t, 2>, 2> directions{};
  std::array<uint32_t, kLargestMesh> devices{};
  tt::tt_fabric::RoutingPlaneConnectionManager connections;
  uint8_t route = 0;
  bool is_open = false;

  uint32_t position_of(uint32_t device, uint32_t along) const {
    uint32_t index = 0;
    while (index < kLargestMesh && devices[index] != device) {
      ++index;
    }
    ASSERT(index < shape[0] * shape[1]);
    return along == 0 ? index / shape[1] : index % shape[1];
  }
};

inline tt_l1_ptr routing_l1_info_t *routing_table() {
  return reinterpret_cast<tt_l1_ptr routing_l1_info_t *>(ROUTING_TABLE_BASE);
}

inline uint16_t get_my_device_id() { return routing_table()->my_device_id; }

inline void setup_fabric_connections(FabricConnectionManager &manager) {
  if (manager.is_open) {
    return;
  }
  size_t next = 1;
  const auto take = [&next] { return get_arg_val<uint32_t>(next++); };
  manager.kind = take();
  manager.dim = take();
  take();  // lines are routed both ways, rings one way
  manager.direction = take();
  for (auto &extent : manager.shape) {
    extent = take();
  }
  for (auto &ways : manager.directions) {
    for (auto &way : ways) {
      way = take();
    }
  }
  const uint32_t devices = manager.shape[0] * manager.shape[1];
  ASSERT(devices <= FabricConnectionManager::kLargestMesh);
  for (uint32_t index = 0; index < devices; ++index) {
    manager.devices[index] = take();
  }
  next = get_arg_val<uint32_t>(0) + 1;
  const uint32_t connections = take();
  using Connections = tt::tt_fabric::RoutingPlaneConnectionManager;
  manager.connections =
      Connections::build_from_args<Connections::BUILD_AND_OPEN_CONNECTION>(next, connections);
  manager.route = PacketHeaderPool::allocate_header_n(connections);
  manager.is_open = true;
}

inline void close_fabric_connections(FabricConnectionManager &manager) {
  if (manager.is_open) {
    manager.connections.close();
  }
}

inline uint32_t get_my_logical_mesh_position(FabricConnectionManager &manager, size_t dim) {
  return manager.position_of(get_my_device_id(), dim);
}

template <size_t dims>
uint32_t get_device_id_from_logical_mesh_position(
    FabricConnectionManager &manager, std::array<uint32_t, dims> position) {
  static_assert(dims == 2, "a mesh has two dimensions");
  ASSERT(position[0] < manager.shape[0] && position[1] < manager.shape[1]);
  return manager.devices[position[0] * manager.shape[1] + position[1]];
}

// Calls `send` with the sender and the header of the packet for a direction of the mesh.
template <typename Send>
void with_connection(FabricConnectionManager &manager, uint32_t direction, Send send) {
  auto *headers = PacketHeaderPool::header_table[manager.route].first;
  for (uint32_t index = 0; index < manager.connections.active_count(); ++index) {
    if (manager.connections.get(index).tag == direction) {
      send(manager.connections.get(index).sender, headers + index);
      return;
    }
  }
  ASSERT(false);
}

// Calls `send` for the connections that lead to the devices from `first` to `last`, which are one
// or all on the way, other than this one: forward, backward, or in a line both.
template <typename Send>
void to_devices(
    FabricConnectionManager &manager, uint16_t mesh, uint16_t first, uint16_t last, Send send) {
  ASSERT(mesh == routing_table()->my_mesh_id);
  const int32_t size = manager.shape[manager.dim];
  const int32_t here = manager.position_of(get_my_device_id(), manager.dim);
  const int32_t from = manager.position_of(first, manager.dim);
  const int32_t to = manager.position_of(last, manager.dim);
  ASSERT(from != here || to != here);
  const auto go = [&](uint32_t way, int32_t start, int32_t range) {
    if (range <= 0) {
      return;
    }
    with_connection(manager, manager.directions[manager.dim][way], [&](auto &sender, auto *header) {
      if (first == last) {
        header->to_chip_unicast(start);
      } else {
        header->to_chip_multicast(tt::tt_fabric::MulticastRoutingCommandHeader{
            static_cast<uint8_t>(start), static_cast<uint8_t>(range)});
      }
      send(sender, header);
    });
  };
  if (manager.kind == FabricConnectionManager::kRing) {
    // One way around; this device, if it is among the others, is the last that is reached.
    const bool forward = manager.direction == FabricConnectionManager::kForward;
    const auto hops = [&](int32_t a, int32_t b) { return (forward ? b - a + size : a - b + size) % size; };
    const int32_t near = forward ? from : to, far = forward ? to : from;
    const int32_t count = hops(near, far) + 1;
    const bool among = hops(near, here) < count;
    go(forward ? 0 : 1, among ? 1 : hops(here, near), among && first != last ? count - 1 : count);
    return;
  }
  go(0, from > here ? from - here : 1, to - (from > here ? from - 1 : here));
  go(1, to < here ? here - to : 1, (to < here ? to + 1 : here) - from);
}

template <typename Sender, typename Header>
void send_header(Sender &sender, Header *header) {
  sender.send_payload_flush_non_blocking_from_address(
      reinterpret_cast<uint32_t>(header), sizeof(PACKET_HEADER_TYPE));
  noc_async_writes_flushed();
}

inline void fabric_mcast_fast_write_any_len(
    FabricConnectionManager &manager, uint16_t mesh, uint16_t first, uint16_t last,
    uint64_t target, uint32_t source, uint32_t bytes) {
  constexpr uint32_t kLargestPayload = 4352;
  while (bytes > 0) {
    const uint32_t part = bytes < kLargestPayload ? bytes : kLargestPayload;
    to_devices(manager, mesh, first, last, [&](auto &sender, auto *header) {
      header->to_noc_unicast_write(tt::tt_fabric::NocUnicastCommandHeader{target}, part);
      sender.wait_for_empty_write_slot();
      sender.send_payload_without_header_non_blocking_from_address(source, part);
      send_header(sender, header);
    });
    source += part;
    target += part;
    bytes -= part;
  }
}

inline void fabric_fast_write_any_len(
    FabricConnectionManager &manager, uint16_t mesh, uint16_t device, uint64_t target,
    uint32_t source, uint32_t bytes) {
  fabric_mcast_fast_write_any_len(manager, mesh, device, device, target, source, bytes);
}

inline void fabric_mcast_sem_inc(
    FabricConnectionManager &manager, uint16_t mesh, uint16_t first, uint16_t last,
    uint64_t semaphore, uint32_t increment) {
  to_devices(manager, mesh, first, last, [&](auto &sender, auto *header) {
    header->to_noc_unicast_atomic_inc(
        tt::tt_fabric::NocUnicastAtomicIncCommandHeader{semaphore, increment});
    sender.wait_for_empty_write_slot();
    send_header(sender, header);
  });
}

inline void fabric_sem_inc(
    FabricConnectionManager &manager, uint16_t mesh, uint16_t device, uint64_t semaphore,
    uint32_t increment) {
  fabric_mcast_sem_inc(manager, mesh, device, device, semaphore, increment);
}

}  // namespace experimental
