"""Python runs this at its start where this folder is on the path."""

import import_hook

import_hook.install()
