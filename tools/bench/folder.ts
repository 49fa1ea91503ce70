import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A folder of manifests as people keep them: one object a file. */
export interface Folder {
  readonly path: string;
  /** Writes one client's file again with another description. */
  change(nth: number, description: string): Promise<void>;
  remove(): Promise<void>;
}

/** Files written at once: more would only wait for each other. */
const atOnce = 64;

/**
 * Makes a folder of `count` clients, each with a policy; `chosen` gives every client a secret of its own in the file.
 */
export async function makeFolder(count: number, secrets: 'generated' | 'chosen'): Promise<Folder> {
  const root = await mkdtemp(path.join(tmpdir(), 'boxgate-bench-folder-'));
  await mkdir(path.join(root, 'clients'));
  await mkdir(path.join(root, 'policies'));
  const writeClient = (nth: number, description: string): Promise<void> =>
    writeFile(path.join(root, 'clients', `${clientName(nth)}.yaml`), client(nth, description, secrets));
  for (let first = 0; first < count; first += atOnce) {
    const places = Array.from({ length: Math.min(atOnce, count - first) }, (_, place) => first + place);
    await Promise.all(places.map((nth) => writeClient(nth, 'as it was at first')));
    await Promise.all(
      places.map((nth) => writeFile(path.join(root, 'policies', `${clientName(nth)}.yaml`), policy(nth))),
    );
  }
  return { path: root, change: writeClient, remove: () => rm(root, { recursive: true, force: true }) };
}

/** Returns the name of a client of the folder, which its policy has too. */
export function clientName(nth: number): string {
  return `service-${String(nth).padStart(5, '0')}`;
}

function client(nth: number, description: string, secrets: 'generated' | 'chosen'): string {
  return `apiVersion: boxgate.dev/v1
kind: Client
metadata:
  name: ${clientName(nth)}
  namespace: bench
spec:
  description: ${description}
  grant_types: [client_credentials]
${secrets === 'chosen' ? `  secret: chosen by somebody for ${clientName(nth)}\n` : ''}  auth:
    client_credentials:
      access_token_expiration: 3600
`;
}

function policy(nth: number): string {
  return `apiVersion: boxgate.dev/v1
kind: AccessPolicy
metadata:
  name: ${clientName(nth)}
  namespace: bench
spec:
  engine: allow
  link:
    - resourceType: Client
      id: ${clientName(nth)}
`;
}
