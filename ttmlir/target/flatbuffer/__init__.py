"""Writers of .ttnn and .ttsys files."""
