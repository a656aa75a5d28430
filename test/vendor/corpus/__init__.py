"""The programs of the corpus, a module for each family."""
