"""Names of the attributes that modules and functions carry."""

SYSTEM_DESC = "tt.system_desc"
"""On a module: the machine that it is compiled for."""
DEVICE = "tt.device"
"""On a module: the chips of the machine that its functions use, as one grid of cores."""
ARG_ALLOC = "tt.arg_alloc"
"""On a function: where its arguments lie, one `#tt.arg_alloc` each."""
