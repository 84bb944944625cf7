"""The documentation as a site: what `mkdocs.yml` uses beside MkDocs and its plugins."""
