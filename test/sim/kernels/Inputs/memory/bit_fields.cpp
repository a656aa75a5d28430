struct Header { uint32_t kind : 3; int32_t step : 5; bool last : 1; uint32_t count : 20; uint16_t tail : 9; uint64_t wide : 40; };
struct __attribute__((packed)) Packed { uint8_t a : 3; uint16_t b : 14; uint32_t c : 27; int64_t d : 40; bool e : 1; };
struct Outer { uint8_t first; Header inner; };
int side(int* n, int v) { ++*n; return v; }
void kernel_main() {
    uint32_t* words = (uint32_t*)AT(256); for (int i = 0; i < 40; i++) { words[i] = 0x9e3779b9u * (i + 1); }
    volatile Header* h = (volatile Header*)AT(256);
    note(h->kind); note(h->step); note(h->last); note(h->count); note(h->tail); note(h->wide);
    h->kind = 9; note(words[0]); note((h->step = -21)); h->last = 4; note(words[0]); note(h->count += 0xfffff); h->tail--; note(words[1]);
    h->wide = 0x123456789aULL; note(words[2]); note(words[3]); note(h->kind++); note(++h->kind); note(h->kind - 6 < 0);
    int calls = 0; Header* all = (Header*)AT(288); all[side(&calls, 1)].count = side(&calls, 77777); note(calls); note(words[12]); note(words[8]);
    all[side(&calls, 1)].count ^= 0x155; note(calls); note(all[1].count); Header copy = all[1]; note(copy.count + copy.kind); note(copy.wide);
    Packed* p = (Packed*)AT(384); note(p->a); note(p->b); note(p->c); note(p->d); note(p->e); p->b = 0x2a5b; p->c = 0x5555aaa; p->d = -3; note(words[32]); note(words[33]); note(words[34]); note((p->d >>= 1)); note(p[1].b); note(p->b++); note(p->b);
    Outer* o = (Outer*)AT(320); o->inner.count = 0xabcde; note(words[18]); o->inner.wide += 1; note(words[20]); note(words[21]);
    Header here[2] = {{1, 2, true, 3, 4, 5}, {6, 7, false, 8, 9, 10}}; Header* either = get_arg_val<uint32_t>(0) ? here : all;
    either->count = 99999; either[1].step = 13; note(either->count); note(either[1].step); note(either->step += 30); note(either->kind++); note(--either->tail); note(either->wide <<= 37); note(here[0].step + all[0].step);
}
