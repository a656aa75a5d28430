"""MLIR's text layer on xDSL: reading, printing, locations, diagnostics.

xDSL holds the IR. This package adds what it lacks of MLIR:

- `context.make_context`: dialects that are imported when their first name is read;
- `reading`: `reader.parse_module` reads fast, with locations on everything and MLIR's messages;
- `printing`: `module.print_module`, `printer.OpLinePrinter` print MLIR's text, byte for byte;
- `syntax`: what the two share;
- `attributes`: constants, blobs, numbers and maps;
- `verifying`: `verifier.verify_module`;
- `reporting`: located messages, `-verify-diagnostics`, places in the source;
- `files`, `option_values`: what the tools share.
"""
