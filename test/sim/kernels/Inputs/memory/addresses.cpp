void set(uint32_t& word, uint32_t to) { word = to; }
void bump(volatile uint16_t& half, int by) { half += by; }
uint32_t first(const uint32_t& word) { return word; }
void kernel_main() {
    uint8_t* b = (uint8_t*)AT(1024); note((*b = 300) + 1); note((b[1] = 7) + 1); note((b[1] -= 8) + 1); note(++*b + 1); note((*b)++); note(*b);
    int16_t* s = (int16_t*)AT(1040); note((*s = 70000) + 1); note((*s -= 40000) + 1); note(--*s);
    float* f = (float*)AT(1056); note((*f = 2.5f) == 2.5f); *f *= 3; note(*f == 7.5f); note(--*f == 6.5f); note((int)*f++); note(*f == 7.5f);
    uint32_t* w = (uint32_t*)AT(1072); set(*w, 9); set(w[1], 11); note(w[0] * 100 + w[1]); bump(*(uint16_t*)&w[1], -12); note(w[1]); note(first(*w)); note(first(w[1]));
    uint32_t& word = w[2]; word = 77; w += 1; word += 1; note(w[1]); note(&word == w + 1); note(w + 1 > w); note((w + 3) - w); note(w - (w + 3)); note(2 + w == w + 2);
    const uint32_t& seen = w[1]; w[1] = 5; note(seen); bool* flag = (bool*)AT(1100); note(*flag = 7); note(*flag);
    uint32_t local[3] = {4, 5, 6}; uint32_t* either = get_arg_val<uint32_t>(0) ? local : w; either[1] = 50; note(*either); either++; note(*either); note(*either += 2); note(either == w + 1); note(either == local + 1);
    note(first(*either)); set(*either, 3); note(local[1]); note(w[1]); note(either - (get_arg_val<uint32_t>(0) ? local : w)); note(-1.5f * *either);
    int i = 0; either[i++] = 8; note(i); note(*either);
    i = 0; note(s[i++] -= 7); note(s[i++] = -9); note(i); note(s[-1 + i] *= 3); f[0] = -3.5f; note((f[i - 2] *= 3) * 2); i = 0; note((f[i++] /= 2) * 4); note(i); note(-f[0] * 4);
    int16_t here[2] = {-5, 6}; int16_t* low = get_arg_val<uint32_t>(0) ? here : s; *low = -32768; note(--*low); note(++*low); note((*low)--); note(*low); note(*low += 5); note(low[1] = -1); note(low[1] <<= 15);
    float real[2] = {0.5f, 1.5f}; float* g = get_arg_val<uint32_t>(0) ? real : f; *g = -0.25f; note((*g -= 1) * 4); note(--*g * 4); note(g[1] = 7.9f); note(++g[1] > 8.8f);
}
