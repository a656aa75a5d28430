"""Operations of transformers: heads, attention, rotary embeddings, caches of keys and values."""
