TRACKED = f"{RESULTS}/logs/track.done"


localrules:
    track,
    track_dataset,


rule track:
    input:
        cells(EXPERIMENT.datasets),
        cells_of_figure("fig4", STRATEGIES),
        rules.table2.output,
        rules.table.output,
        rules.figures.input,
    output:
        touch(TRACKED),
    log:
        f"{RESULTS}/logs/track.log",
    conda:
        ENVIRONMENT
    params:
        results=results_folder,
        store=lambda wildcards: Path(RESULTS).parent,
    message:
        "Update the MLflow store"
    shell:
        "python -m dekm sync {params.results:q} --store {params.store:q} 2> >(tee {log:q} >&2)"


use rule track as track_dataset with:
    input:
        lambda wildcards: cells(wildcards.dataset),
    output:
        touch(f"{RESULTS}/logs/track/{{dataset}}.done"),
    log:
        f"{RESULTS}/logs/track/{{dataset}}.log",
