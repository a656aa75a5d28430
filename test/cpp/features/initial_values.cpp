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
void kernel_main() {
    uint32_t n{4}, empty{};
    const Request request = {.page = {.id = 2}, .size = {1, 5}, .last = true};
    note(total(request)); note(total({{9, 8}, {6}, false})); note(n + empty);
    note(shifted({.offset = 1}, 5).offset); note(Page{}.id); note(Page{.id = 1}.offset);
    uint32_t one = 1;
    Counted first(one), second = first, third(second), *last = &third;
    note(first.count); note(second.count); note(last->count);
}
