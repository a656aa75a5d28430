"""MLIR's text layer on xDSL: reading, printing, locations, diagnostics.

xDSL holds the IR. This package adds what it lacks of MLIR:

- `context.make_context`: dialects that are imported when their first name is read;
- `reader.parse_module`: fast reading, locations on everything, MLIR's messages;
- `printer.print_module`, `printer.OpLinePrinter`: MLIR's text, byte for byte;
- `diagnostics`, `verifier.verify_module`, `expected`: located messages and `-verify-diagnostics`;
- `locations`, `rewriting`: places in the source, and rewriting that keeps them;
- `elements`, `resources`, `floats`, `affine`: constants, blobs, numbers and maps;
- `chunk_processing`, `text_files`, `command_line`, `option_values`: what the tools share.
"""
