from struct import Struct

float32: Struct
uoffset: Struct
soffset: Struct
voffset: Struct
