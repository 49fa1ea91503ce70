import { execFile } from 'node:child_process';
import { isObject, parseJson, isList } from '../../crds/path.ts';
import type { JsonObject } from '../../crds/path.ts';
import type { Environment } from '../../program/environment.ts';
import { plainText } from '../../program/text.ts';
import { CliError, EXIT } from './cli-error.ts';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The cluster of the current kube context, with the rights of the person. */
export interface Kubectl {
  /**
   * Runs kubectl, and returns its standard output. Throws CliError with the missing right, or with what kubectl says.
   * An aborted `signal` ends it.
   */
  run(args: readonly string[], signal?: AbortSignal): Promise<string>;
  /**
   * Returns the object, or the list of objects, that `kubectl get` finds; undefined if there is none. Throws like run.
   */
  get(args: readonly string[], signal?: AbortSignal): Promise<JsonObject | undefined>;
}

/** Longest wait for one answer of the cluster. */
const PATIENCE = '10s';

/** Maximum size of an answer, in bytes. */
const LONGEST_OUTPUT = 1024 ** 3;

/**
 * Returns the cluster as kubectl reaches it: by the files of `KUBECONFIG`, with every way to sign in that it has. A
 * library of ours would have to follow all of them (decision 43).
 */
export function kubectlOf(environment: Environment): Kubectl {
  const run = (args: readonly string[], signal?: AbortSignal): Promise<string> =>
    new Promise((resolve, reject) => {
      const all = [`--request-timeout=${PATIENCE}`, ...args];
      // 200 Clients are about 1 MB, the default of execFile.
      const options = { env: { ...environment }, maxBuffer: LONGEST_OUTPUT, ...(signal && { signal }) };
      const child = execFile('kubectl', all, options, (error, output, messages) => {
        if (error === null) resolve(output);
        else reject(faultOf(error, messages));
      });
      // A plugin that signs in may read a terminal; here nothing comes.
      child.stdin?.end();
    });
  return {
    run,
    async get(args, signal) {
      const output = await run(['get', '--ignore-not-found', '--output=json', ...args], signal);
      const found = parseJson(output);
      return isObject(found) ? found : undefined;
    },
  };
}

function faultOf(error: Error, messages: string): CliError {
  if ('code' in error && error.code === 'ENOENT')
    return new CliError(EXIT.unreachable, 'there is no kubectl in the PATH');
  const [, verb = '', resource = '', group = '', namespace = ''] =
    /cannot (\w+) resource "([^"]+)" in API group "([^"]*)" in the namespace "([^"]+)"/.exec(messages) ?? [];
  if (verb !== '') {
    const name = group === '' ? resource : `${resource}.${group}`;
    const right = `you have no right to ${verb} ${name} in the namespace ${namespace}: ask an admin for it`;
    const credential = 'a credential of the box (BOXCTL_TOKEN, or BOXCTL_CLIENT_ID and BOXCTL_CLIENT_SECRET)';
    // A credential of a box is none of the cluster: it does not move the box.
    return new CliError(EXIT.refused, plainText(name === 'namespaces' ? right : `${right}, or use ${credential}`));
  }
  const [said = error.message] = messages.split('\n').filter((line) => line !== '' && !/^[IWE]\d{4} /.test(line));
  return new CliError(EXIT.unreachable, `kubectl failed: ${plainText(said.replace(/^error: /i, ''))}`);
}

/**
 * Returns the issuer of the box that a namespace is, from the status of its Box; of a box without that object, from the
 * status of one of its Clients. Throws CliError, also once `signal` is aborted.
 */
export async function issuerInCluster(kubectl: Kubectl, namespace: string, signal?: AbortSignal): Promise<string> {
  const box = await kubectl.get(['boxes.boxgate.dev', 'box', '--namespace', namespace], signal);
  const issuer =
    issuerOf(box) ??
    (await clientsInCluster(kubectl, namespace, signal)).map(issuerOf).find((one) => one !== undefined);
  if (issuer !== undefined) return issuer;
  throw new CliError(
    EXIT.unreachable,
    `the namespace ${namespace} is no box yet: it has neither a Box nor a Client with an issuer in its status`,
  );
}

/** Returns the Clients of a namespace. Throws CliError, also once `signal` is aborted. */
export async function clientsInCluster(
  kubectl: Kubectl,
  namespace: string,
  signal?: AbortSignal,
): Promise<readonly JsonObject[]> {
  const list = await kubectl.get(['clients.boxgate.dev', '--namespace', namespace], signal);
  return (isList(list?.['items']) ? list['items'] : []).filter(isObject);
}

function issuerOf(object: JsonObject | undefined): string | undefined {
  const status = object?.['status'];
  const issuer = isObject(status) ? status['issuer'] : undefined;
  return typeof issuer === 'string' && issuer !== '' ? issuer : undefined;
}

/** The current context of kubectl. */
interface KubeContext {
  /** Its namespace; undefined if it names none. */
  readonly namespace: string | undefined;
}

/**
 * Returns the current context, read as kubectl does from the files of `KUBECONFIG`, or `~/.kube/config`. Undefined if
 * there is no such file, if it cannot be read as YAML, or if it has no current context.
 */
export async function kubeContext(environment: Environment, home: string): Promise<KubeContext | undefined> {
  const named = (environment['KUBECONFIG'] ?? '').split(path.delimiter).filter((file) => file !== '');
  const files = named.length > 0 ? named : [path.join(home, '.kube', 'config')];
  const configs = (await Promise.all(files.map(readConfig))).filter(isObject);
  // The first file that sets a value wins (kubectl's rule for several files).
  const current = configs
    .map((config) => config['current-context'])
    .find((name) => typeof name === 'string' && name !== '');
  const context = configs
    .flatMap((config) => (isList(config['contexts']) ? config['contexts'] : []))
    .filter(isObject)
    .find(({ name }) => name === current)?.['context'];
  if (!isObject(context)) return undefined;
  const { namespace } = context;
  return { namespace: typeof namespace === 'string' && namespace !== '' ? namespace : undefined };
}

async function readConfig(file: string): Promise<unknown> {
  try {
    const text = await readFile(file, 'utf8');
    const { parse } = await import('yaml');
    const config: unknown = parse(text);
    return config;
  } catch {
    return undefined;
  }
}
