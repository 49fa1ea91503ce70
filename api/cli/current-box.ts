import type { Environment } from '../../process/environment.ts';
import { usageError } from './cli-error.ts';
import type { OptionValues } from './option-values.ts';
import { kubeNamespace } from './kube-namespace.ts';
import type { State } from './state-file.ts';

/** The current box, and where each part of its address was found. */
export interface BoxAddress {
  readonly box: string;
  readonly boxFrom: string;
  /** Public URL of the installation, without a slash at its end. */
  readonly server: string;
  readonly serverFrom: string;
  /** Base URL of the box. */
  readonly base: string;
}

/** Names of namespaces (RFC 1123 labels). */
const BOX = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Finds the current box: `--box`, `BOXCTL_BOX`, the namespace of the current kube context, then `boxctl box use`; and its
 * installation: `--server`, `BOXCTL_SERVER`, then `boxctl box use`. Throws CliError if either is missing or malformed.
 */
export async function currentBox(
  values: OptionValues,
  environment: Environment,
  { state, home }: { readonly state: State; readonly home: string },
): Promise<BoxAddress> {
  const kept = await state.read();
  const [box, boxFrom] =
    firstOf([
      [values['box'], '--box'],
      [environment['BOXCTL_BOX'], 'BOXCTL_BOX'],
      [await kubeNamespace(environment, home), 'the namespace of the kube context'],
      [kept.box, 'boxctl box use'],
    ]) ?? fail('which box? Give --box, set BOXCTL_BOX, or choose one with `boxctl box use <box>`');
  const [server, serverFrom] =
    firstOf([
      [values['server'], '--server'],
      [environment['BOXCTL_SERVER'], 'BOXCTL_SERVER'],
      [kept.server, 'boxctl box use'],
    ]) ?? fail('which installation? Give --server, set BOXCTL_SERVER, or run `boxctl login --server <public URL>`');
  const url = serverUrl(server, serverFrom);
  return { box: boxName(box, boxFrom), boxFrom, server: url, serverFrom, base: `${url}/boxes/${box}` };
}

/** Returns the name if a namespace can have it; `from` says where it was given. Throws CliError. */
export function boxName(box: string, from: string): string {
  if (BOX.test(box)) return box;
  throw usageError(`${from} must be the name of a namespace: letters a to z, digits and hyphens, at most 63`);
}

/**
 * Returns the URL without a slash at its end. It must be https, or http: a token that is sent with http can be read on
 * the way. Throws CliError; `from` says where the URL was given.
 */
export function serverUrl(text: string, from: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '')
    throw usageError(`${from} must be the public URL of the installation, such as https://auth.example.com`);
  return url.href.replace(/\/+$/, '');
}

type Source = readonly [value: OptionValues[string], from: string];

function firstOf(sources: readonly Source[]): readonly [string, string] | undefined {
  for (const [value, from] of sources) if (typeof value === 'string' && value !== '') return [value, from];
  return undefined;
}

function fail(message: string): never {
  throw usageError(message);
}
