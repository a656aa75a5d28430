// Initial values
// Braces, designated members, defaults of members, braces as arguments and as results.
struct Page { uint32_t id = 7, offset{3}; };
struct Request { Page page; uint16_t size[3]; bool last; };
uint32_t total(const Request& request) {
    return request.page.id * 1000 + request.page.offset * 100 + request.size[1] * 10 + request.last;
}
Page shifted(Page page, uint32_t by) { return {page.id, page.offset + by}; }
struct Counted {
    uint32_t count;
    explicit Counted(uint32_t from) : count(from) {}
};
struct Several { int *first, *second, third; int list[2], last = 4; };
struct Area { int value; Area() : value(0) {} Area(int a, int b) : value(a * b) {} };
int add(Several s) { return *s.first + *s.second + s.third + s.list[1] + s.last; }
void fill(Several* s) { *s = {s->first, s->second, 10, {11, 12}}; }
void kernel_main() {
    uint32_t n{4}, empty{};
    const Request request = {.page = {.id = 2}, .size = {1, 5}, .last = true};
    note(total(request)); note(total({{9, 8}, {6}, false})); note(n + empty);
    note(shifted({.offset = 1}, 5).offset); note(Page{}.id); note(Page{.id = 1}.offset);
    uint32_t one = 1;
    Counted first(one), second = first, third(second), *last = &third;
    note(first.count); note(second.count); note(last->count);
    int uno = 1, due = 2;
    Several several{&uno, &due, 3, {4, 5}}; note(add(several)); fill(&several); note(add(several));
    several = {&due, &due}; note(add(several)); note(add((Several){&uno, &uno, 7}));
    Area area; area = {3, 4}; note(area.value); uno = {9}; note(uno); several.list[1] = {}; note(several.list[1]);
}
