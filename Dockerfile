# The environment of the workflow, whose code is mounted, for Docker and for Snakemake's `--sdm apptainer`; see
# docs/cluster.md.
#   docker build -t dekm .                                 PyTorch for NVIDIA GPUs, as on PyPI
#   docker build -t dekm --build-arg TORCH_INDEX=URL .     that of another index, such as PyTorch's for CPUs
FROM python:3.11-slim-bookworm AS build
ARG TORCH_INDEX=
WORKDIR /build
RUN python -m venv /opt/dekm
ENV PATH=/opt/dekm/bin:$PATH
# openTSNE has no wheel for ARM, so pip compiles it there.
# hadolint ignore=DL3008
RUN if [ "$(uname -m)" != x86_64 ]; then \
        apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*; \
    fi
COPY requirements.txt ./
# The wheels of PyTorch on PyPI are those for GPUs, and some GB larger.
RUN if [ -n "$TORCH_INDEX" ]; then \
        pip install --no-cache-dir --index-url "$TORCH_INDEX" "$(grep '^torch==' requirements.txt)"; \
    fi && \
    pip install --no-cache-dir -r requirements.txt

FROM python:3.11-slim-bookworm
# git names the commit of the code in every run.
# hadolint ignore=DL3008
RUN apt-get update && \
    apt-get install -y --no-install-recommends git && \
    rm -rf /var/lib/apt/lists/* && \
    useradd --uid 1000 --create-home dekm
COPY --from=build /opt/dekm /opt/dekm
ENV PATH=/opt/dekm/bin:$PATH
USER 1000
WORKDIR /work
CMD ["snakemake", "--cores", "all", "--configfile", "config/demo.yaml"]
