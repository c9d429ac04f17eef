# The service in an image: docker build -t letalone . (docs/how-to/containers.md)
# What is copied is what the wheel is made of; .dockerignore leaves everything else behind.
FROM python:3.11-slim AS build
ARG EXTRAS=server,postgres
WORKDIR /source
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src src
RUN python -m venv /opt/letalone \
    && /opt/letalone/bin/pip install --no-cache-dir --disable-pip-version-check ".[${EXTRAS}]" \
    && /opt/letalone/bin/pip uninstall --yes --quiet pip

FROM python:3.11-slim
LABEL org.opencontainers.image.title="letalone" \
    org.opencontainers.image.description="Answers questions about sensitive data without exposing anyone in it." \
    org.opencontainers.image.licenses="Apache-2.0"
# A user of its own: the folder of the service may be entered by nobody else.
RUN groupadd --system --gid 10001 letalone \
    && useradd --system --uid 10001 --gid 10001 --no-create-home --home-dir /srv/letalone \
        --shell /usr/sbin/nologin letalone \
    && install --directory --mode=0700 --owner=letalone --group=letalone /srv/letalone
COPY --from=build /opt/letalone /opt/letalone
ENV PATH=/opt/letalone/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /srv/letalone
VOLUME /srv/letalone
EXPOSE 8400
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8400/health', timeout=4)"]
ENTRYPOINT ["letalone"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8400", "--folder", "/srv/letalone/curator"]
