"""Passes that change the element types of ttir, those of quantized numbers among them."""
