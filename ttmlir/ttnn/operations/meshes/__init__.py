"""Operations over several devices: exchanges, layers that contain some, calls device by device."""
