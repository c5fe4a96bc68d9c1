# evenhand as a service.
#
#   docker build --tag evenhand .
#   docker run --publish 127.0.0.1:8000:8000 --volume evenhand:/data --env EVENHAND_ADMIN_TOKEN evenhand
#
# compose.yaml adds PostgreSQL and a proxy with TLS.

FROM python:3.11-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/evenhand \
    && /opt/evenhand/bin/pip install --no-cache-dir '.[service,postgres,models]' \
    && /opt/evenhand/bin/evenhand warm-up

FROM python:3.11-slim
RUN useradd --uid 10001 --home-dir /data --no-create-home evenhand \
    && install --directory --owner evenhand --mode 700 /data
COPY --from=build /opt/evenhand /opt/evenhand
ENV PATH=/opt/evenhand/bin:$PATH \
    EVENHAND_DATABASE_URL=sqlite:////data/ledger.db \
    PYTHONUNBUFFERED=1
USER evenhand
WORKDIR /data
VOLUME /data
EXPOSE 8000
# Ready only while decisions can be made: the ledger is written, and no desk is stuck.
HEALTHCHECK --interval=10s --timeout=6s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/ready', timeout=5)"]
CMD ["evenhand", "serve", "--host", "0.0.0.0", "--port", "8000", "--supervise"]
