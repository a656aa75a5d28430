"""What the commands say and leave behind."""
