"""Operations on windows of images: convolutions, poolings, averages."""

from __future__ import annotations

from ttmlir.optable.window import convolution, image, pooling

ROWS = (*image.ROWS, *convolution.ROWS, *pooling.ROWS)
