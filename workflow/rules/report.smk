TABLE = multiext(f"{RESULTS}/tables/table3", ".csv", ".md", ".tex")
TRACKED = f"{RESULTS}/logs/track.done"


localrules:
    table,
    table_of_dataset,
    track,
    track_dataset,


rule table:
    input:
        cells=summaries(EXPERIMENT.datasets),
        paper=ROOT / "resources/paper/table3.csv",
    output:
        TABLE,
    log:
        f"{RESULTS}/logs/table.log",
    benchmark:
        f"{RESULTS}/benchmarks/table.tsv"
    conda:
        ENVIRONMENT
    params:
        results=results,
        datasets=list(EXPERIMENT.datasets),
        methods=EXPERIMENT.methods,
        folder=lambda wildcards, output: Path(output[0]).parent,
        sources=source_digest("dekm.tables"),
    message:
        "Write Table III"
    shell:
        "python -m dekm table --results {params.results} --datasets {params.datasets}"
        " --methods {params.methods} --paper {input.paper:q} --out {params.folder} 2> {log}"


use rule table as table_of_dataset with:
    input:
        cells=lambda wildcards: summaries(wildcards.dataset),
        paper=ROOT / "resources/paper/table3.csv",
    output:
        multiext(f"{RESULTS}/tables/{{dataset}}/table3", ".csv", ".md", ".tex"),
    log:
        f"{RESULTS}/logs/table/{{dataset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/table/{{dataset}}.tsv"
    params:
        results=results,
        datasets="{dataset}",
        methods=EXPERIMENT.methods,
        folder=lambda wildcards, output: Path(output[0]).parent,
        sources=source_digest("dekm.tables"),
    message:
        "Write Table III for {wildcards.dataset} alone"


rule track:
    input:
        summaries(EXPERIMENT.datasets),
    output:
        touch(TRACKED),
    log:
        f"{RESULTS}/logs/track.log",
    conda:
        ENVIRONMENT
    params:
        results=results,
        store=lambda wildcards: Path(RESULTS).parent,
    message:
        "Bring the MLflow store up to date"
    shell:
        "python -m dekm sync {params.results} --store {params.store} 2> {log}"
        " || echo 'MLflow: not up to date, see {log}; \"make ui\" tries again.' >&2"


use rule track as track_dataset with:
    input:
        lambda wildcards: summaries(wildcards.dataset),
    output:
        touch(f"{RESULTS}/logs/track/{{dataset}}.done"),
    log:
        f"{RESULTS}/logs/track/{{dataset}}.log",
