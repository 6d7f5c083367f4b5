from snakemake.utils import min_version

min_version("9.6")


include: "workflow/Snakefile"


rule everything:
    default_target: True
    input:
        rules.all.input,
