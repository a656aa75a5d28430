struct Node { int value; Node* next = nullptr; Node* both[2]; };
struct Tree { int key; Tree* left; Tree* right; };

int total(const Node* node) { return node == nullptr ? 0 : node->value + total(node->next); }
Node* reverse(Node* node) { Node* made = nullptr; while (node) { Node* next = node->next; node->next = made; made = node; node = next; } return made; }
void insert(Tree* root, Tree* leaf) {
    Tree* at = root;
    while (true) {
        if (leaf->key < at->key) { if (!at->left) { at->left = leaf; return; } at = at->left; }
        else { if (!at->right) { at->right = leaf; return; } at = at->right; }
    }
}
void walk(Tree* node, int depth) { if (!node) return; walk(node->left, depth + 1); note(node->key * 10 + depth); walk(node->right, depth + 1); }

void kernel_main() {
    Node a = {1}; Node b = {2, &a}; Node c; c.value = 3; c.next = &b; note(c.next == &b);
    note(total(&c)); Node* head = reverse(&c); note(head->value); note(head->next->next->value); note(c.next == nullptr);
    a.both[0] = &b; a.both[1] = a.both[0]->next; note(a.both[1]->value); (*a.both[1]).value = 9; note(total(head));
    Node copy = a; copy.next->value = 20; note(b.value); note(copy.both[0] == &b);
    Tree nodes[7] = {}; int keys[7] = {4, 2, 6, 1, 3, 5, 7};
    for (int i = 0; i < 7; i++) { nodes[i].key = keys[i]; if (i) insert(&nodes[0], &nodes[i]); }
    walk(nodes, 0); note(nodes[0].left->right->key); note(nodes->right - nodes);
}
