"""Operations on elements, and what they compute."""
