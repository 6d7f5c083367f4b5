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
    threads: threads_of("pretrain")
    resources:
        gpu=GPUS,
        mem_mb=growing(8000),
        runtime=growing(240),
        device=MACHINE.device,
        fresh=FRESH,
        modules=MODULES,
    params:
        results=results_folder,
        seeds=dataset_seeds,
        settings=settings_file("pretrain"),
        sources=pretraining_digest,
    message:
        "Pretrain the {wildcards.architecture} autoencoders of {wildcards.dataset}, seeds {params.seeds}"
    shell:
        "python -m dekm pretrain {wildcards.dataset:q} {wildcards.architecture:q} --results {params.results:q}"
        " --seeds {params.seeds:q} --device {resources.device:q} --settings {params.settings:q} {resources.modules} {resources.fresh} 2> {log:q}"


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
    threads: threads_of("cluster")
    resources:
        gpu=lambda wildcards: int(device_of_method(wildcards) != "cpu"),
        mem_mb=growing(8000),
        runtime=growing(240),
        device=device_of_method,
        fresh=FRESH,
        keep_models=MACHINE.keep_models,
        modules=MODULES,
    params:
        results=results_folder,
        seeds=dataset_seeds,
        settings=settings_file("cluster"),
        sources=method_digest,
    message:
        "Cluster {wildcards.dataset} with {wildcards.method}, seeds {params.seeds}"
    shell:
        "python -m dekm cluster {wildcards.dataset:q} {wildcards.method:q} --results {params.results:q}"
        " --seeds {params.seeds:q} --device {resources.device:q} --settings {params.settings:q}"
        " --keep-models {resources.keep_models} {resources.modules} {resources.fresh} 2> {log:q}"
