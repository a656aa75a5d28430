// Moves
// `T&&`, `std::move`, `std::forward`; constructors and assignments that take what others had.
struct Handle {
    uint32_t* open;
    explicit Handle(uint32_t* open) : open(open) { ++*open; }
    Handle(Handle&& other) : open(other.open) { other.open = nullptr; }
    Handle(const Handle&) = delete;
    ~Handle() { if (open != nullptr) { --*open; } }
};
struct Number {
    int n;
    Number(int n) : n(n) {}
    Number(const Number& other) : n(other.n) { note(-1); }
    Number(Number&& other) : n(other.n) { other.n = 0; note(-2); }
    Number& operator=(const Number& other) { n = other.n; note(-3); return *this; }
    Number& operator=(Number&& other) { n = other.n; other.n = 0; note(-4); return *this; }
};
struct Pair { uint32_t first; Number second; Number more[2]; };
struct Own { Number n; Own(Number&& n) : n(std::move(n)) {} Number give() { return std::move(n); } Number show() { return n; } };
int kind(int&) { return 1; }
int kind(const int&) { return 2; }
int kind(int&&) { return 3; }
int kind(Number&) { return 4; }
int kind(Number&&) { return 5; }
template <typename T> int pass(T&& x) { return kind(std::forward<T>(x)); }
template <typename T> int relay(T&& x) { return pass<T>(std::forward<T>(x)); }
template <typename... T> int all(T&&... x) { return (kind(std::forward<T>(x)) + ...); }
int named(int&& x) { return kind(x); }
int take(Number x) { return x.n; }
Number back(Number x) { return x; }
Number kept(7);
Number copy_kept() { return kept; }
void kernel_main() {
    int a = 1;
    const int c = 2;
    note(pass(a)); note(pass(c)); note(pass(3)); note(pass(std::move(a))); note(relay(a)); note(relay(4));
    note(all(a, 5, c)); note(named(6)); note(kind(static_cast<const int&>(a)));
    Number one(10);
    note(pass(one)); note(pass(Number(1))); note(pass(std::move(one))); note(one.n);
    Number two(std::move(one)); note(one.n); note(two.n);
    Number three = two; note(two.n);
    three = std::move(two); note(three.n); note(two.n);
    one = three; note(take(one)); note(take(std::move(one))); note(one.n);
    note(back(Number(8)).n); note(copy_kept().n); note(kept.n);
    Pair pair{4, Number(5), {Number(6), Number(7)}};
    Pair copied = pair; note(copied.more[1].n);
    Pair moved = std::move(pair); note(moved.second.n); note(pair.second.n); note(pair.first);
    Own own(Number(9)); note(own.show().n); note(own.give().n); note(own.n.n);
    std::swap(one, three); note(one.n); note(three.n);
    auto get = [inner = std::move(one)]() { return inner.n; };
    note(get()); note(one.n);
    uint32_t open = 0;
    { Handle first(&open); note(open); Handle second(std::move(first)); note(open); note(first.open == nullptr); }
    note(open);
}
