// Copy constructors
// Of arguments, captures, elements and variables; the copy of what is returned may be left out.
struct Counted {
    uint32_t n;
    Counted() : n(0) {}
    Counted(uint32_t n) : n(n) {}
    Counted(const Counted& other) : n(other.n + 1) { note(1000 + n); }
    Counted& operator=(const Counted& other) { n = other.n + 10; return *this; }
};
uint32_t take(Counted c) { c.n += 5; return c.n; }
void kernel_main() {
    Counted a(1);
    note(take(a));
    Counted b{a}; note(b.n);
    b = a; note(b.n);
    Counted c = Counted(7); note(c.n);
    const Counted& r = a;
    Counted d = r; note(d.n);
    Counted* p = &a;
    Counted e(*p); note(e.n);
    Counted listed[2] = {a, Counted(3)}; note(listed[0].n); note(listed[1].n);
    auto get = [a]() { return a.n; };
    note(get()); note(a.n);
}
