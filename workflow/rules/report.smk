TABLES = f"{RESULTS}/tables"


# Tables that are written only where a dataset is one of the paper.
TABLES_OF_THE_PAPER = {
    "verdicts": "Verdicts on the paper's cells",
    "claims": "Claims of the paper",
}
if len(OTHER_DATASETS) == len(EXPERIMENT.datasets):
    TABLES_OF_THE_PAPER = {}


localrules:
    table2,
    table,
    table_of_dataset,


rule table2:
    input:
        facts=expand(rules.prepare.output, dataset=EXPERIMENT.datasets),
        paper=ROOT / "resources/paper/table2.csv",
    output:
        multiext(f"{TABLES}/table2", ".csv", ".md", ".tex"),
        report(
            f"{TABLES}/table2.html",
            caption="../report/table2.rst",
            category="Tables",
            labels={"table": "Table II, datasets"},
        ),
    log:
        f"{RESULTS}/logs/table2.log",
    conda:
        ENVIRONMENT
    params:
        results=results_folder,
        datasets=[*EXPERIMENT.datasets, *EXPERIMENT.left_out],
        left_out=LEFT_OUT,
        folder=output_folder,
        sources=source_digest("dekm.tables"),
    message:
        "Write Table II"
    shell:
        "python -m dekm table2 --results {params.results:q} --datasets {params.datasets:q}"
        " {params.left_out} --paper {input.paper:q} --out {params.folder:q} 2> {log:q}"


rule table:
    input:
        cells=cells(EXPERIMENT.datasets),
        figures=lambda wildcards: outputs_of_runs(
            rules.figures_of_run.output, OTHER_DATASETS
        ),
        pages=lambda wildcards: rules.pages.input,
        strategies=cells_of_figure("fig4", STRATEGIES),
        published=[f"{EXPERIMENT.reference}/runs.csv"] if EXPERIMENT.reference else [],
        paper=ROOT / "resources/paper/table3.csv",
        claims=ROOT / "resources/paper/claims.csv",
    output:
        multiext(f"{TABLES}/table3", ".csv", ".md", ".tex"),
        report(
            f"{TABLES}/table3.html",
            caption="../report/table3.rst",
            category="Tables",
            labels={"table": "Clustering results, and derived tables"},
        ),
        report(
            f"{TABLES}/further.csv",
            caption="../report/further.rst",
            category="Tables",
            labels={"table": "ARI, seconds and memory"},
        ),
        [
            report(
                f"{TABLES}/{name}.csv",
                caption=f"../report/{name}.rst",
                category="Tables",
                labels={"table": label},
            )
            for name, label in TABLES_OF_THE_PAPER.items()
        ],
        multiext(f"{TABLES}/ranks", ".csv", ".md"),
    log:
        f"{RESULTS}/logs/table.log",
    benchmark:
        f"{RESULTS}/benchmarks/table.tsv"
    conda:
        ENVIRONMENT
    params:
        results=results_folder,
        datasets=[*EXPERIMENT.datasets, *EXPERIMENT.left_out],
        methods=EXPERIMENT.methods,
        strategies=[*STRATEGIES] if "fig4" in EXPERIMENT.figures else [],
        show=EXPERIMENT.get("show", []),
        reference=["--reference", EXPERIMENT.reference] if EXPERIMENT.reference else [],
        labels=LABELS,
        left_out=LEFT_OUT,
        folder=output_folder,
        sources=source_digest("dekm.tables"),
    message:
        "Write Table III and the derived tables"
    shell:
        "python -m dekm table --results {params.results:q} --datasets {params.datasets:q}"
        " --methods {params.methods:q} --strategies {params.strategies:q} --show {params.show:q} {params.labels} {params.left_out}"
        " {params.reference:q} --paper {input.paper:q} --out {params.folder:q} 2> {log:q}"


use rule table as table_of_dataset with:
    input:
        cells=lambda wildcards: cells(wildcards.dataset),
        published=[f"{EXPERIMENT.reference}/runs.csv"] if EXPERIMENT.reference else [],
        paper=ROOT / "resources/paper/table3.csv",
        claims=ROOT / "resources/paper/claims.csv",
    output:
        multiext(f"{TABLES}/{{dataset}}/table3", ".csv", ".md", ".tex", ".html"),
    log:
        f"{RESULTS}/logs/table/{{dataset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/table/{{dataset}}.tsv"
    params:
        datasets="{dataset}",
        strategies=[],
        left_out="",
    message:
        "Write Table III for {wildcards.dataset} alone"
