import { readE2eConfig } from './config.ts';
import { apply, kubectl } from './kubectl.ts';
import { blocksOf, replaced } from '../support/page-block.ts';

/** Path of the app that the gateway serves without asking anybody. */
export const openPath = '/open/';

/**
 * Starts a pod of nginx, with a Service, that asks a box before it lets a request through to an app (the app is a
 * server of the same nginx). The locations are those of docs/guides/gateways.md. Returns its URL in the cluster.
 */
export async function startGateway(box: string): Promise<string> {
  const [documented = ''] = blocksOf('guides/gateways.md', 'nginx', 'nginx');
  const locations = replaced(documented, {
    'http://orders.shop.svc:8080': 'http://127.0.0.1:9090',
    'boxgate.shop.svc': `boxgate.${box}.svc`,
  });
  await apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects(box, configuration(locations)) }));
  await kubectl('wait', '--for=condition=Ready', 'pod/gateway', '--namespace', box, '--timeout', '120s');
  return `http://gateway.${box}.svc`;
}

function configuration(locations: string): string {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path /tmp/${name};`);
  return `daemon off; worker_processes 1; pid /tmp/pid; error_log stderr warn;
events { worker_connections 256; }
http {
  access_log off; ${folders.join(' ')}
  server {
    listen 8080;
    location ${openPath} { proxy_pass http://127.0.0.1:9090; }
    location = /ready { return 200 "ready"; }
    ${locations}
  }
  server { listen 127.0.0.1:9090; location / { return 200 "app for $http_x_auth_client"; } }
}
`;
}

function objects(namespace: string, file: string): readonly unknown[] {
  const labels = { app: 'gateway' };
  const container = {
    name: 'nginx',
    image: readE2eConfig().nginxImage,
    imagePullPolicy: 'IfNotPresent',
    ports: [{ containerPort: 8080 }],
    readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1 },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    volumeMounts: [
      { name: 'configuration', mountPath: '/etc/gateway' },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
  const spec = {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container],
    volumes: [
      { name: 'configuration', configMap: { name: 'gateway' } },
      { name: 'tmp', emptyDir: {} },
    ],
  };
  const service = { selector: labels, ports: [{ port: 80, targetPort: 8080 }] };
  const metadata = { name: 'gateway', namespace };
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'nginx.conf': file } },
    { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, labels }, spec },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: service },
  ];
}
