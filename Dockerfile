# The image of Boxgate: `make image`. Commands: api, operator, migrate, admin, keys (docs/guides/kubernetes.md), dev
# (compose.yaml).
# It needs no shell, no writable folder and no root. Nothing runs in the second stage, so a base without a shell works.
ARG BASE=node:24-bookworm-slim

FROM ${BASE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --loglevel=error
COPY . .
RUN node tools/image/main.ts /app
# The command `boxgate`, for `kubectl exec`. It names Node.js by its path, so that it needs neither a shell nor env.
RUN mkdir /app/bin && \
    printf '#!%s\nimport "../dev/main.js";\n' "$(command -v node)" >/app/bin/boxgate && \
    chmod 755 /app/bin/boxgate
# For the state of `boxgate dev`: a volume takes the owner of the folder over.
RUN mkdir /state

FROM ${BASE}
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Boxgate" \
      org.opencontainers.image.description="A Kubernetes-native OAuth 2.0 authorization server" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production
ENV PATH="/app/bin:${PATH}"
WORKDIR /app
COPY --from=build /app /app
COPY --from=build --chown=65532:65532 /state /state
USER 65532:65532
EXPOSE 8080 8081 8082
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/dev/main.js"]
