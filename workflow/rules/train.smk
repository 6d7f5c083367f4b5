rule pretrain:
    input:
        rules.prepare.output,
    output:
        f"{RESULTS}/pretrained/{{dataset}}/{{architecture}}/summary.json",
    log:
        f"{RESULTS}/logs/pretrain/{{dataset}}/{{architecture}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/pretrain/{{dataset}}/{{architecture}}.tsv"
    # Most cells wait for it.
    priority: 20
    conda:
        ENVIRONMENT
    threads: THREADS
    resources:
        gpu=GPUS,
        mem_mb=growing(8000),
        runtime=growing(240),
        device=DEVICE,
        fresh=FRESH,
        modules=MODULES,
    params:
        results=results_folder,
        seeds=dataset_seeds,
        settings=pretraining_arguments,
        sources=pretraining_digest,
    message:
        "Pretrain the {wildcards.architecture} autoencoders of {wildcards.dataset}, seeds {params.seeds}"
    shell:
        "python -m dekm pretrain {wildcards.dataset:q} {wildcards.architecture:q} --results {params.results:q}"
        " --seeds {params.seeds:q} --device {resources.device:q} {resources.modules} {params.settings} {resources.fresh} 2> {log:q}"


rule cluster:
    input:
        rules.prepare.output,
        pretrained_autoencoders,
    output:
        f"{RESULTS}/runs/{{dataset}}/{{method}}/summary.json",
    log:
        f"{RESULTS}/logs/cluster/{{dataset}}/{{method}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/cluster/{{dataset}}/{{method}}.tsv"
    conda:
        ENVIRONMENT
    threads: THREADS
    resources:
        gpu=gpus_of_method,
        mem_mb=growing(8000),
        runtime=growing(240),
        device=device_of_method,
        fresh=FRESH,
        keep_models=KEEP_MODELS,
        modules=MODULES,
    params:
        results=results_folder,
        seeds=dataset_seeds,
        settings=method_arguments,
        definition=definition_arguments,
        start=start_arguments,
        sources=method_digest,
    message:
        "Cluster {wildcards.dataset} with {wildcards.method}, seeds {params.seeds}"
    shell:
        "python -m dekm cluster {wildcards.dataset:q} {wildcards.method:q} --results {params.results:q}"
        " --seeds {params.seeds:q} --device {resources.device:q} {params.definition} {params.start}"
        " --keep-models {resources.keep_models} {resources.modules} {params.settings} {resources.fresh} 2> {log:q}"
