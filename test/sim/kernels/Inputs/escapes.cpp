void kernel_main() {
    note('\033');
    note('\x41');
    note('\101');
    note('\0');
    note('\7');
    note('\377');
    note('\xff');
    note('\?');
    note('\f' + '\v' + '\b' + '\a');
    note('\e');
    note('\'');
}
