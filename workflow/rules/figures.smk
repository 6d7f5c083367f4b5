FIGURES = f"{RESULTS}/figures"
FIG5_METHODS = [
    name
    for name in ("pca_k_means", "ae_k_means", "dec", "dekm")
    if name in EXPERIMENT.methods
]
RUN_METHODS = [
    name
    for name in EXPERIMENT.methods
    if name == "dekm" or name in EXPERIMENT.own_methods
]


localrules:
    figure_entropy,
    figure_samples,
    figure_ranks,
    figure_strategies,


rule figure_iterations:
    input:
        cells("fig1", "dekm"),
    output:
        report(
            multiext(f"{FIGURES}/fig1", ".png", ".gif"),
            caption="../report/fig1.rst",
            category="Figures",
            labels={"figure": "1, iterations"},
        ),
        multiext(f"{FIGURES}/fig1", ".pdf", ".csv"),
    log:
        f"{RESULTS}/logs/figures/fig1.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        runs=first_seed_folders,
        folder=output_folder,
        sources=source_digest("dekm.figures.fig1_iterations"),
    message:
        "Draw Figure 1"
    shell:
        "python -m dekm figure fig1 {params.runs:q} --out {params.folder:q} 2> {log:q}"


rule figure_entropy:
    output:
        report(
            f"{FIGURES}/fig2.png",
            caption="../report/fig2.rst",
            category="Figures",
            labels={"figure": "2, entropy"},
        ),
        multiext(f"{FIGURES}/fig2", ".pdf", ".csv"),
    log:
        f"{RESULTS}/logs/figures/fig2.log",
    conda:
        ENVIRONMENT
    params:
        folder=output_folder,
        sources=source_digest("dekm.figures.fig2_entropy"),
    message:
        "Draw Figure 2"
    shell:
        "python -m dekm figure fig2 --out {params.folder:q} 2> {log:q}"


rule figure_samples:
    input:
        expand(rules.prepare.output, dataset=IMAGE_DATASETS),
    output:
        report(
            f"{FIGURES}/fig3.png",
            caption="../report/fig3.rst",
            category="Figures",
            labels={"figure": "3, samples"},
        ),
        multiext(f"{FIGURES}/fig3", ".pdf", ".csv"),
    log:
        f"{RESULTS}/logs/figures/fig3.log",
    conda:
        ENVIRONMENT
    params:
        data=input_folders,
        folder=output_folder,
        sources=source_digest("dekm.figures.fig3_samples"),
    message:
        "Draw Figure 3"
    shell:
        "python -m dekm figure fig3 {params.data:q} --out {params.folder:q} 2> {log:q}"


rule figure_strategies:
    input:
        cells_of_figure("fig4", STRATEGIES),
    output:
        report(
            f"{FIGURES}/fig4.png",
            caption="../report/fig4.rst",
            category="Figures",
            labels={"figure": "4, strategies"},
        ),
        report(
            f"{FIGURES}/fig4_final.csv",
            caption="../report/fig4_final.rst",
            category="Figures",
            labels={"figure": "4, final values"},
        ),
        multiext(f"{FIGURES}/fig4", ".pdf", ".csv"),
    log:
        f"{RESULTS}/logs/figures/fig4.log",
    conda:
        ENVIRONMENT
    params:
        cells=input_folders,
        folder=output_folder,
        sources=source_digest("dekm.figures.fig4_strategies"),
    message:
        "Draw Figure 4"
    shell:
        "python -m dekm figure fig4 {params.cells:q} --out {params.folder:q} 2> {log:q}"


rule figure_embeddings:
    input:
        cells_of_figure("fig5", FIG5_METHODS),
    output:
        report(
            f"{FIGURES}/fig5.png",
            caption="../report/fig5.rst",
            category="Figures",
            labels={"figure": "5, embeddings"},
        ),
        multiext(f"{FIGURES}/fig5", ".pdf", ".csv"),
    log:
        f"{RESULTS}/logs/figures/fig5.log",
    conda:
        ENVIRONMENT
    threads: 4
    resources:
        mem_mb=growing(8000),
        runtime=growing(120),
    params:
        runs=first_seed_folders,
        folder=output_folder,
        sources=source_digest("dekm.figures.fig5_embeddings"),
    message:
        "Draw Figure 5"
    shell:
        "python -m dekm figure fig5 {params.runs:q} --out {params.folder:q} 2> {log:q}"


rule figure_ranks:
    input:
        f"{TABLES}/ranks.csv",
    output:
        report(
            directory(f"{FIGURES}/ranks"),
            patterns=["{figure}.png"],
            caption="../report/ranks.rst",
            category="Figures",
            labels={"figure": "mean ranks"},
        ),
    log:
        f"{RESULTS}/logs/figures/ranks.log",
    conda:
        ENVIRONMENT
    params:
        sources=source_digest("dekm.figures.ranks"),
    message:
        "Draw the critical-difference diagram"
    shell:
        "mkdir -p {output:q} && python -m dekm figure ranks {input:q} --out {output:q} 2> {log:q}"


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
        runs=first_seed_folders,
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
        outputs_of_runs(rules.figures_of_run.output, EXPERIMENT.datasets),
