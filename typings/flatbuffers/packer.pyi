from struct import Struct

uoffset: Struct
soffset: Struct
voffset: Struct
