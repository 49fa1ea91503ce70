// A bare writer: lists and watches, and makes for each object the writes that an operator makes, with nothing around
// them.
import { isObject } from '../../../crds/json-value.ts';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { apiCall, type ApiCall } from '../../envtest/api-call.ts';
import { list } from '../../../operator/kube/client/list.ts';
import type { WatchEvent } from '../../../operator/kube/client/watch.ts';
import { bareWriterOptions, type BareWrite } from './bare-writer-options.ts';
import { followFrom, kubeApi } from './kube.ts';

const { values } = parseArgs({ options: { kubeconfig: { type: 'string' }, work: { type: 'string' } } });
const { paths, writes, status, lanes } = bareWriterOptions(JSON.parse(values.work ?? ''));
const kubeconfig = values.kubeconfig ?? '';
const { url, certificate, token } = accessOf(JSON.parse(readFileSync(kubeconfig, 'utf8')));
const kube = kubeApi(kubeconfig);
const never = new AbortController().signal;

interface Found {
  readonly path: string;
  readonly apiVersion: unknown;
  readonly kind: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const waiting: Found[] = [];
const idle: (() => void)[] = [];
let done = 0;
let busySince = 0;

function found(path: string, object: unknown): Found | undefined {
  const { apiVersion, kind, metadata } = isObject(object) ? object : {};
  return isObject(metadata) ? { path, apiVersion, kind, metadata } : undefined;
}

function add(one: Found): void {
  if (idle.length === lanes) busySince = performance.now();
  waiting.push(one);
  idle.pop()?.();
}

async function lane(): Promise<void> {
  for (;;) {
    const next = waiting.shift();
    if (next === undefined) {
      if (idle.length === lanes - 1 && done > 0)
        say({ msg: 'idle', done, milliseconds: performance.now() - busySince });
      await new Promise<void>((resolve) => idle.push(resolve));
    } else {
      for (const write of writes) await send(write, next);
      done += 1;
    }
  }
}

async function send(write: BareWrite, one: Found): Promise<void> {
  const answer = await apiCall(url, certificate, token, calls[write](one));
  if (answer.status > 299) throw new Error(`${write}: ${JSON.stringify(answer.body)}`);
}

const calls: Record<BareWrite, (one: Found) => ApiCall> = {
  secret: ({ path, apiVersion, kind, metadata: { name, namespace, uid } }) => ({
    method: 'POST',
    path: `/api/v1/namespaces/${String(namespace)}/secrets`,
    body: {
      metadata: {
        name,
        labels: { 'boxgate.dev/client-secret': 'true' },
        ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
      },
      stringData: Object.fromEntries(
        secretEntries.map((entry) => [entry, `${entry} of ${path}, some sixty characters of it`]),
      ),
    },
  }),
  finalizer: ({ path, metadata }) => ({
    method: 'PATCH',
    path: objectPath(path, metadata),
    contentType: 'application/merge-patch+json',
    body: { metadata: { finalizers: ['boxgate.dev/finalizer'], resourceVersion: metadata['resourceVersion'] } },
  }),
  status: ({ path, apiVersion, kind, metadata }) => ({
    method: 'PATCH',
    path: `${objectPath(path, metadata)}/status?fieldManager=boxgate&force=true`,
    contentType: 'application/apply-patch+yaml',
    body: {
      apiVersion,
      kind,
      metadata: { name: metadata['name'], uid: metadata['uid'] },
      status: status[String(kind)],
    },
  }),
};

const secretEntries = ['client_id', 'client_secret', 'issuer', 'token_url', 'in_cluster_token_url', 'jwks_url'];

function objectPath(path: string, { namespace, name }: Found['metadata']): string {
  const [group, plural] = [path.split('/').slice(0, 4).join('/'), path.split('/').at(-1)];
  return `${group}/namespaces/${String(namespace)}/${String(plural)}/${String(name)}`;
}

function accessOf(config: unknown): { url: string; certificate: string; token: string } {
  const cluster = firstOf(config, 'clusters', 'cluster');
  const user = firstOf(config, 'users', 'user');
  return {
    url: String(cluster['server']),
    certificate: String(cluster['certificate-authority']),
    token: String(user['token']),
  };
}

function firstOf(config: unknown, list: string, member: string): Record<string, unknown> {
  const entries = isObject(config) ? config[list] : undefined;
  const first: unknown = Array.isArray(entries) ? entries[0] : undefined;
  const value = isObject(first) ? first[member] : undefined;
  if (!isObject(value)) throw new Error(`the configuration has no ${list}`);
  return value;
}

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

// Last: what the list finds is written at once, and needs everything above.
for (let nth = 0; nth < lanes; nth += 1) void lane();
for (const path of paths) {
  const { objects, resourceVersion } = await list(
    kube,
    { path, pageSize: 500 },
    (object) => found(path, object),
    never,
  );
  objects.forEach(add);
  const onEvent = ({ type, object }: WatchEvent): void => {
    const one = found(path, object);
    if (type === 'ADDED' && one !== undefined) add(one);
  };
  void followFrom(kube, path, resourceVersion, onEvent, never);
}
say({ msg: 'listening' });
