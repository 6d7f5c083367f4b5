"""The layout of a folder of results, and readers for what it holds; no other module knows either.

::

    results/<name>/
        data/<dataset>/                               data.npz, facts.json
        pretrained/<dataset>/<architecture>/seed<n>/  autoencoder.safetensors, loss.csv
        runs/<dataset>/<method>/seed<n>/              model.safetensors, history.csv, labels.npy, ...
        tables/  figures/  logs/  benchmarks/

A cell is a folder above seeds, with a ``summary.json`` of those that count. A seed's folder appears whole or
not at all; it always holds ``facts.json`` (what made it), ``metrics.json`` (what came out) and a manifest, by
which `record` checks what it reads; `runs` has all runs that count, and every score that is shown.
"""
