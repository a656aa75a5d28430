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
void kernel_main() {
    Open open;
    open.twice(4);
    note(open.get()); note(peek(open));
}
