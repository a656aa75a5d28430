func.func @one() { return }
