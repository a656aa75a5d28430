constexpr const char* words[] = {"ab", "", "c!" "d"};
struct Entry { const char* name; int number; };
constexpr int length(const char* text) { int n = 0; while (text[n]) ++n; return n; }
constexpr int total(const char* const* from, int count) {
    int n = 0;
    for (int i = 0; i < count; ++i) n += length(from[i]) * (i + 1);
    return n;
}
bool is_same(const char* a, const char* b) {
    while (*a && *a == *b) { ++a; ++b; }
    return *a == *b;
}
const char* pick(int i) { return i ? "yes" : "no"; }

void kernel_main() {
    static_assert(length("four") == 4 && words[2][1] == '!');
    const char* text = "abc";
    note(text[1]); note(*(text + 2)); note(text[3]);
    for (const char* at = text; *at; ++at) note(*at);
    text = words[2]; note(*text); note(length(text)); note(length(text + 1));
    for (int i = 0; i < 3; ++i) note(total(words + i, 3 - i));
    note(is_same(pick(1), "yes")); note(is_same(pick(0), "yes"));
    Entry entries[] = {{"first", 1}, {"second", 2}};
    for (const Entry& each : entries) { note(length(each.name)); note(each.name[each.number]); }
    const char* none = nullptr; note(none == nullptr); note(text != nullptr);
}
