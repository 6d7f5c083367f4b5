from dekm.files.manifest import content_digest

PAGE_OF_RUN = f"{RESULTS}/explore/{{dataset}}_{{method}}.html"


rule explore:
    input:
        rules.cluster.output,
    output:
        report(
            PAGE_OF_RUN,
            caption="../report/explore.rst",
            category="Runs",
            subcategory="{dataset}",
            labels={"method": "{method}", "figure": "page of the run"},
        ),
    log:
        f"{RESULTS}/logs/explore/{{dataset}}/{{method}}.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        runs=input_folders,
        sources=source_digest("dekm.figures.explore"),
        template=content_digest(ROOT / "dekm/figures/explore/page.html"),
    message:
        "Write the page of the first run of {wildcards.method} on {wildcards.dataset}"
    shell:
        "python -m dekm explore {params.runs:q} --out {output:q} > {log:q} 2>&1"


rule pages:
    input:
        outputs_of_runs(PAGE_OF_RUN, EXPERIMENT.datasets),
