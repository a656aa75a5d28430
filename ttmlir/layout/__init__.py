"""Arithmetic of tiles, shards, grids, affine maps, data formats and chips; no xDSL.

- `enums`: enumerations with their keywords and schema names.
- `affine`, `affine_parser`: affine maps with MLIR's simplification and text.
- `element_type`: scalars and tiles, their storage formats and sizes.
- `grid`, `tensor_layout`: how a tensor is divided over cores and laid out in their memory.
- `arch`: the numbers of each generation of chips.
- `chip`, `boards`, `system_tables`: descriptions of chips and systems of chips.
- `device`, `core_ranges`: chips as one grid of cores, and the maps of tensors to memory.
- `data_format`, `tile`: bits of bfloat16 and block floats, numbers in tile order.
- `number_conversion`: what a number becomes in another element type.

What cannot be represented is refused with a `LayoutError`.
"""
