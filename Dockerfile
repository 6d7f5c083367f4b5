# The environment of the workflow, for `docker run` and for Snakemake's `--sdm apptainer`; see docs/cluster.md.
#   docker build -t dekm .                            with PyTorch for CPUs
#   docker build -t dekm --build-arg DEVICE=cuda .    with PyTorch for NVIDIA GPUs, 5 GB more
FROM python:3.11-slim-bookworm AS build
ARG DEVICE=cpu
WORKDIR /build
RUN python -m venv /opt/dekm
ENV PATH=/opt/dekm/bin:$PATH
COPY requirements.txt ./
# The wheels of PyTorch on PyPI are those for GPUs.
RUN if [ "$DEVICE" = cpu ]; then \
        pip install --no-cache-dir --index-url https://download.pytorch.org/whl/cpu \
            "$(grep '^torch==' requirements.txt)"; \
    fi && \
    pip install --no-cache-dir -r requirements.txt
COPY pyproject.toml README.md LICENSE ./
COPY dekm ./dekm
RUN pip install --no-cache-dir --no-deps .

FROM python:3.11-slim-bookworm
# git names the commit of the code in every run.
# hadolint ignore=DL3008
RUN apt-get update && \
    apt-get install -y --no-install-recommends git && \
    rm -rf /var/lib/apt/lists/* && \
    useradd --uid 1000 --create-home dekm
COPY --from=build /opt/dekm /opt/dekm
ENV PATH=/opt/dekm/bin:$PATH PYTHONUNBUFFERED=1
USER 1000
WORKDIR /home/dekm
CMD ["dekm", "--help"]
