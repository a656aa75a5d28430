void kernel_main() {
  const uint32_t packed = 0x3fc00000; const auto f = reinterpret_cast<const float*>(&packed); note(*f * 2);
  uint32_t w = 0x01020304; uint8_t* b = (uint8_t*)&w; note(b[0]); note(b[3]); b[1] = 0xff; note(w); for (int i = 0; i < 4; i++) note(b[i]);
  uint16_t h[4] = {1, 2, 3, 4}; auto* p = reinterpret_cast<uint32_t*>(h); note(p[1]); p[0] = 0xaabbccdd; note(h[0]); note(h[1]); p++; note(*p);
  auto* q = reinterpret_cast<uint32_t*>(h + 2); note(*q); *q = 7; note(h[2] + h[3] * 10); int8_t* s = (int8_t*)(h + 1); note(s[0]); note(*(s + 1));
  float g[2] = {1.5f, -2.0f}; uint32_t* u = (uint32_t*)g; note(u[1]); u[0] = 0x40000000; note(g[0]); uint64_t* d = (uint64_t*)g; note(*d);
  uint32_t x; *(reinterpret_cast<float*>(&x)) = 1.0f; note(x); float* fx = (float*)&x; *fx += 1; note(x);
}
