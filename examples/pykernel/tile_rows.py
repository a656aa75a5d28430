"""Functions that compute kernels call; they become part of the kernel."""


def reduce_row(source, ones, target, width, kind, invert):
    """The maximum or sum of a row of tiles, or one over it."""
    tile_regs_acquire()
    reduce_init(source, ones, target, kind, ReduceDim.REDUCE_ROW)
    for i in range(width):
        reduce_tile(source, ones, i, 0, 0, kind, ReduceDim.REDUCE_ROW)
    reduce_uninit()
    if invert:
        recip_tile_init()
        recip_tile(0)
    put(target)


def exp_of_difference(source, column, target, width):
    """exp of a row of tiles minus a column."""
    for i in range(width):
        tile_regs_acquire()
        sub_bcast_cols_init_short(source, column)
        sub_tiles_bcast_cols(source, column, i, 0, 0)
        exp_tile_init()
        exp_tile(0)
        put(target)


def multiply(source, column, target, width):
    """A row of tiles times a column."""
    for i in range(width):
        tile_regs_acquire()
        mul_bcast_cols_init_short(source, column)
        mul_tiles_bcast_cols(source, column, i, 0, 0)
        put(target)


def put(target):
    """Pack what DST holds into a page."""
    tile_regs_commit()
    cb_reserve_back(target, 1)
    tile_regs_wait()
    pack_tile(0, target)
    tile_regs_release()
    cb_push_back(target, 1)
