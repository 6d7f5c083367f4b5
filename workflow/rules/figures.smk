FIGURES = f"{RESULTS}/figures"
RUN_METHODS = [
    name
    for name in EXPERIMENT.methods
    if name == "dekm" or name in EXPERIMENT.own_methods
]


localrules:
    figure_cost,
    figure_entropy,
    figure_samples,
    figure_ranks,
    figure_strategies,


# The figures of the paper: rule, inputs, threads and memory, and the files that are in the report with their
# names there.
PAPER_FIGURES = {
    "fig1": (
        ("iterations", cells("fig1", "dekm"), 1, 4000),
        {"fig1.png": "1, iterations", "fig1.gif": "1, animation"},
    ),
    "fig2": (("entropy", [], 1, 1000), {"fig2.png": "2, entropy"}),
    "fig3": (
        ("samples", expand(rules.prepare.output, dataset=IMAGE_DATASETS), 1, 4000),
        {"fig3.png": "3, samples"},
    ),
    "fig4": (
        ("strategies", cells_of_figure("fig4", STRATEGIES), 1, 1000),
        {"fig4.png": "4, strategies", "fig4_final.csv": "4, final values"},
    ),
    "fig5": (
        ("embeddings", cells_of_figure("fig5", EXPERIMENT.methods_of_fig5), 4, 8000),
        {"fig5.png": "5, embeddings"},
    ),
}

for figure, (
    (name, read, n_threads, memory),
    reported,
) in PAPER_FIGURES.items():

    rule:
        name:
            f"figure_{name}"
        input:
            read,
        output:
            [
                report(
                    f"{FIGURES}/{file}",
                    caption=f"../report/{Path(file).stem}.rst",
                    category="Figures",
                    labels={"figure": label},
                )
                for file, label in reported.items()
            ],
            multiext(f"{FIGURES}/{figure}", ".pdf", ".csv"),
        log:
            f"{RESULTS}/logs/figures/{figure}.log",
        conda:
            ENVIRONMENT
        threads: n_threads
        resources:
            mem_mb=growing(memory),
            runtime=growing(60),
        params:
            figure=figure,
            read=input_folders,
            folder=output_folder,
            sources=source_digest(f"dekm.figures.{figure}_{name}"),
        message:
            f"Draw Figure {figure[3:]}"
        shell:
            "python -m dekm figure {params.figure} {params.read:q} --out {params.folder:q} 2> {log:q}"


# The names of the figures of finished tables in the report.
LABELS_OF_TABLES = {"ranks": "mean ranks", "cost": "accuracy against time"}

for figure, tables in FIGURES_OF_TABLES.items():

    rule:
        name:
            f"figure_{figure}"
        input:
            [f"{TABLES}/{table}" for table in tables],
        output:
            report(
                directory(f"{FIGURES}/{figure}"),
                patterns=["{figure}.png"],
                caption=f"../report/{figure}.rst",
                category="Figures",
                labels={"figure": LABELS_OF_TABLES[figure]},
            ),
        log:
            f"{RESULTS}/logs/figures/{figure}.log",
        conda:
            ENVIRONMENT
        params:
            figure=figure,
            sources=source_digest(f"dekm.figures.{figure}"),
        message:
            f"Draw {LABELS_OF_TABLES[figure]}"
        shell:
            "mkdir -p {output:q} && python -m dekm figure {params.figure} {input:q} --out {output:q} 2> {log:q}"


rule figures_of_run:
    input:
        rules.cluster.output,
    output:
        report(
            directory(f"{FIGURES}/runs/{{dataset}}/{{method}}"),
            patterns=["{figure}.png"],
            caption="../report/run.rst",
            category="Runs",
            subcategory="{dataset}",
            labels={"method": "{method}", "figure": "{figure}"},
        ),
    log:
        f"{RESULTS}/logs/figures/{{dataset}}/{{method}}.log",
    conda:
        ENVIRONMENT
    params:
        runs=input_folders,
        sources=source_digest("dekm.figures.runs"),
    message:
        "Draw the figures of the first run of {wildcards.method} on {wildcards.dataset}"
    shell:
        "python -m dekm figure runs {params.runs:q} --out {output:q} 2> {log:q}"


rule figures:
    input:
        rules.figure_entropy.output if PAPER_DATASETS & {*EXPERIMENT.datasets} else [],
        rules.figure_samples.output if IMAGE_DATASETS else [],
        rules.figure_iterations.output if "fig1" in EXPERIMENT.figures else [],
        rules.figure_strategies.output if "fig4" in EXPERIMENT.figures else [],
        rules.figure_embeddings.output if "fig5" in EXPERIMENT.figures else [],
        rules.figure_ranks.output if len(EXPERIMENT.datasets) > 1 else [],
        rules.figure_cost.output if len(EXPERIMENT.methods) > 1 else [],
        outputs_of_runs(rules.figures_of_run.output, EXPERIMENT.datasets),
