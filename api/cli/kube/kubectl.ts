import { execFile } from 'node:child_process';
import { isObject, parseJson } from '../../../crds/json-value.ts';
import type { JsonObject } from '../../../crds/json-value.ts';
import type { Environment } from '../../../process/environment.ts';
import { plainText } from '../../../process/plain-text.ts';
import { CliError, EXIT } from '../cli-error.ts';

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
    return new CliError(
      EXIT.refused,
      plainText(
        `you have no right to ${verb} ${name} in the namespace ${namespace}: ask an admin for it, or use a credential of the box (BOXCTL_TOKEN, or BOXCTL_CLIENT_ID and BOXCTL_CLIENT_SECRET)`,
      ),
    );
  }
  const [said = error.message] = messages.split('\n').filter((line) => line !== '' && !/^[IWE]\d{4} /.test(line));
  return new CliError(EXIT.unreachable, `kubectl failed: ${plainText(said.replace(/^error: /i, ''))}`);
}
