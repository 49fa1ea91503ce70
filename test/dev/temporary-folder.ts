import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A folder of a test's own. */
export interface TemporaryFolder {
  readonly root: string;
  /** The absolute path of something in it. */
  path(...parts: string[]): string;
  /** Writes a file, and the folders above it. */
  write(file: string, text: string): void;
  /** Writes a file as many editors do: aside, then renamed over the old one. */
  save(file: string, text: string): void;
  rename(from: string, to: string): void;
  remove(file?: string): void;
}

/** Makes an empty folder, to be removed with `remove()`. */
export function temporaryFolder(): TemporaryFolder {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'boxgate-folder-')));
  const at = (...parts: string[]): string => path.join(root, ...parts);
  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(at(file)), { recursive: true });
    writeFileSync(at(file), text);
  };
  return {
    root,
    write,
    path: at,
    save(file, text) {
      write(`${file}~`, text);
      renameSync(at(`${file}~`), at(file));
    },
    rename: (from, to) => renameSync(at(from), at(to)),
    remove: (file = '.') => rmSync(at(file), { recursive: true, force: true }),
  };
}

/** A Client as YAML. */
export function clientYaml(name: string, more = '', namespace?: string): string {
  const box = namespace === undefined ? '' : `\n  namespace: ${namespace}`;
  return `apiVersion: boxgate.dev/v1
kind: Client
metadata:
  name: ${name}${box}
spec:
  grant_types: [client_credentials]
${more}`;
}

/** An AccessPolicy as YAML that allows a client everything. */
export function policyYaml(name: string, client = name): string {
  return `apiVersion: boxgate.dev/v1
kind: AccessPolicy
metadata:
  name: ${name}
spec:
  engine: allow
  link:
    - { resourceType: Client, id: ${client} }
`;
}

/** A Secret as YAML that a client may refer to. */
export function secretYaml(name: string, value: string): string {
  return `apiVersion: v1
kind: Secret
metadata:
  name: ${name}
  labels: { boxgate.dev/client-secret: "true" }
stringData:
  client_secret: ${value}
`;
}
