// Access
// `public`, `protected` and `private` members; friends.
class Account {
    uint32_t total = 3;

  protected:
    void add(uint32_t n) { total += n; }

  public:
    uint32_t get() const { return total; }
    friend uint32_t peek(const Account& account) { return account.total * 10; }
};
struct Open : Account { void twice(uint32_t n) { add(n); add(n); } };
class Kept {
    struct Part { uint32_t n; };
    enum Kind { small, large };
    using Number = uint32_t;
    static constexpr Number step = 3;
    Number n;
    explicit Kept(Number n) : n(n) {}
    static Number twice(Number x) { return 2 * x; }
public:
    static Kept make(Number n) { return Kept(twice(n) + step); }
    static Part part() { return Part{large}; }
    Number get() const { return n; }
};
template <uint32_t N> class Shared {
    static constexpr uint32_t value = N;
    template <uint32_t M> friend class Other;
};
template <uint32_t M> class Other { public: static uint32_t get() { return Shared<M>::value; } };
void kernel_main() {
    note(Kept::make(4).get()); auto part = Kept::part(); note(part.n); note(Other<9>::get());
    Open open;
    open.twice(4);
    note(open.get()); note(peek(open));
}
