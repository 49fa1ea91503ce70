import { randomBytes } from 'node:crypto';
import { readE2eConfig } from './config.ts';
import { system } from './installation.ts';
import { apply, kubectl, untilRolledOut } from './kubectl.ts';
import { createNamespace } from './namespace.ts';

/**
 * Starts a Postgres 15 with two roles, none of which may do more than it must, in a namespace of its own. The Secrets
 * `<namespace>-owner` and `<namespace>-api` in the namespace of the installation have their URLs, and
 * `<namespace>-superuser` has that of the superuser.
 */
export async function startPostgres(namespace: string): Promise<void> {
  const passwords = { superuser: newPassword(), owner: newPassword(), api: newPassword() };
  await createNamespace(namespace, { secretless: true });
  await apply(manifestOf(namespace, passwords));
  const host = `postgres.${namespace}.svc:5432`;
  const uris = {
    superuser: `postgres://postgres:${passwords.superuser}@${host}/postgres`,
    owner: `postgres://boxgate_owner:${passwords.owner}@${host}/boxgate`,
    api: `postgres://boxgate_api:${passwords.api}@${host}/boxgate`,
  };
  for (const [role, uri] of Object.entries(uris)) {
    const secret = ['secret', 'generic', `${namespace}-${role}`, '--namespace', system];
    await kubectl('create', ...secret, `--from-literal=uri=${uri}`);
  }
  await untilRolledOut('deployment/postgres', namespace);
}

function newPassword(): string {
  return randomBytes(12).toString('hex');
}

function manifestOf(namespace: string, passwords: Readonly<Record<'superuser' | 'owner' | 'api', string>>): string {
  const plain = 'LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB PASSWORD';
  return `
apiVersion: apps/v1
kind: Deployment
metadata: {name: postgres, namespace: ${namespace}}
spec:
  selector: {matchLabels: {app: postgres}}
  template:
    metadata: {labels: {app: postgres}}
    spec:
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: postgres
          image: ${readE2eConfig().oldestPostgresImage}
          imagePullPolicy: IfNotPresent
          securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
          env:
            - {name: POSTGRES_PASSWORD, value: ${passwords.superuser}}
            - name: POSTGRES_STATEMENTS
              value: |
                CREATE ROLE boxgate_owner ${plain} '${passwords.owner}'
                CREATE ROLE boxgate_api ${plain} '${passwords.api}'
                CREATE DATABASE boxgate OWNER boxgate_owner
          ports: [{containerPort: 5432}]
          readinessProbe: {tcpSocket: {port: 5432}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: postgres, namespace: ${namespace}}
spec:
  selector: {app: postgres}
  ports: [{port: 5432}]
`;
}
