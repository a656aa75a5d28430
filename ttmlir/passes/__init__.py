"""One pass per file; `pipelines` names the pipelines."""
