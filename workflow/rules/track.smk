TRACKED = f"{RESULTS}/logs/track.done"

# The marker files of updates that did not reach the server are removed, so that they run again.
if workflow.is_main_process:
    for marker in (Path(TRACKED), *Path(RESULTS, "logs/track").glob("*.done")):
        if marker.is_file() and marker.read_text() == PENDING:
            marker.unlink()


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
        rules.pages.input,
    output:
        TRACKED,
    log:
        f"{RESULTS}/logs/track.log",
    conda:
        ENVIRONMENT
    params:
        results=results_folder,
        store=lambda wildcards: STORE,
    message:
        "Update the MLflow store"
    shell:
        "python -m dekm sync {params.results:q} --store {params.store:q} --done {output:q} 2> >(tee {log:q} >&2)"


use rule track as track_dataset with:
    input:
        lambda wildcards: cells(wildcards.dataset),
        rules.table_of_dataset.output,
    output:
        f"{RESULTS}/logs/track/{{dataset}}.done",
    log:
        f"{RESULTS}/logs/track/{{dataset}}.log",
