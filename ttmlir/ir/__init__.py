"""What passes and frontends share: building, rewriting and asking the IR."""
