"""Passes that know no dialect of ours."""
