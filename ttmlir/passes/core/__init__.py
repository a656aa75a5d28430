"""What a pass is, how passes are named, arranged, run and watched."""
