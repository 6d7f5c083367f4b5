# Nodes that compute may have no access to the network.
localrules:
    download,


rule download:
    output:
        f"{RESULTS}/data/{{dataset}}/raw.json",
    log:
        f"{RESULTS}/logs/download/{{dataset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/download/{{dataset}}.tsv"
    priority: 30
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=500,
        runtime="2h",
        mirror=mirror_argument,
    params:
        settings=settings_file("download"),
        raw_dir=raw_folder,
    message:
        "Download and verify the raw files of {wildcards.dataset}"
    shell:
        "python -m dekm download {wildcards.dataset:q} --raw-dir {params.raw_dir:q} {resources.mirror}"
        " --settings {params.settings:q} --out {output:q} 2> >(tee {log:q} >&2)"


rule prepare:
    input:
        raw_files,
    output:
        f"{RESULTS}/data/{{dataset}}/facts.json",
    log:
        f"{RESULTS}/logs/prepare/{{dataset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/prepare/{{dataset}}.tsv"
    priority: 30
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
        modules=MODULES,
    params:
        base=lambda wildcards: BLOCKS[wildcards.dataset].base,
        results=results_folder,
        raw_dir=raw_folder,
        settings=settings_file("prepare"),
        files=own_files_digest,
        sources=lambda wildcards: source_digest(*BLOCKS[wildcards.dataset].modules),
    message:
        "Prepare {wildcards.dataset}"
    shell:
        "python -m dekm prepare {params.base:q} --name {wildcards.dataset:q} --results {params.results:q} --raw-dir {params.raw_dir:q}"
        " --settings {params.settings:q} {resources.modules} 2> {log:q}"
