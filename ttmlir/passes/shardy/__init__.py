"""Passes that divide programs over the devices of a mesh, as Shardy describes it."""
