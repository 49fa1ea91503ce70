import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { isList, isObject, parseJson } from '../../../crds/path.ts';
import { readE2eConfig } from '../config.ts';
import { apply, kubectl } from '../kubectl.ts';

/** A request that a pod makes. */
export interface Call {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The response to it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Requests in a loop: a token, and its use at a resource. */
export interface Load {
  readonly token: Call;
  readonly resource: string;
  readonly workers: number;
  /** Milliseconds between two rounds of a worker. */
  readonly pause: number;
}

/** Result of a load. */
export interface LoadResult {
  readonly served: number;
  readonly tokens: number;
  readonly failures: readonly LoadFailure[];
}

/** A request of a load that was not answered with 200; status 0: there was no answer. */
export interface LoadFailure {
  readonly at: number;
  readonly step: string;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly why: string;
}

/** A pod in the cluster that makes requests for a test. */
export interface Caller {
  call(call: Call): Promise<Answer>;
  /** Returns the text of a file in the pod. */
  read(file: string): Promise<string>;
  /** Returns the milliseconds of each of some equal calls, which must be answered with 200. */
  measure(call: Call, times: number): Promise<readonly number[]>;
  startLoad(load: Load): Promise<void>;
  /** Ends the load and uses some of its tokens once more. */
  stopLoad(): Promise<LoadResult>;
  /** Ends the connection to the pod, which goes on running. */
  close(): Promise<void>;
}

/** The pod of a caller. */
export interface CallerPod {
  readonly namespace: string;
  readonly name: string;
  readonly serviceAccount?: string;
  /** A Secret that is mounted at `/secret`. */
  readonly secret?: string;
  /** Audience of a ServiceAccount token that is mounted at `/account/token`. */
  readonly audience?: string;
}

/** Starts a pod and connects to it. Throws if it does not start. */
export async function startCaller(pod: CallerPod): Promise<Caller> {
  const { namespace, name } = pod;
  await apply(manifestOf(pod));
  await kubectl('wait', '--for=condition=Ready', `pod/${name}`, '--namespace', namespace, '--timeout', '120s');
  return connect(pod);
}

/** Connects to the pod of a caller that is running. */
function connect({ namespace, name }: CallerPod): Caller {
  const command = ['exec', '--stdin', '--namespace', namespace, name, '--', 'node', '/caller/program.ts'];
  const child = spawn('kubectl', command, { stdio: 'pipe' });
  const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stdin.on('error', () => undefined);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = parseJson(line);
    if (!isObject(answer)) return;
    const one = waiting.get(Number(answer['id']));
    waiting.delete(Number(answer['id']));
    if (typeof answer['error'] === 'string') one?.reject(new Error(`${name}: ${answer['error']}`));
    else one?.resolve(answer['result']);
  });
  const closed = new Promise<void>((resolve) => {
    child.on('error', ({ message }) => (said += message));
    child.on('close', () => {
      for (const { reject } of waiting.values()) reject(new Error(`the pod ${name} does not answer: ${said}`));
      resolve();
    });
  });
  let last = 0;
  const order = (what: Readonly<Record<string, unknown>>): Promise<unknown> => {
    const id = ++last;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      child.stdin.write(`${JSON.stringify({ id, ...what })}\n`);
    });
  };
  return {
    call: async (call) => answerOf(await order({ call })),
    read: async (file) => String(await order({ read: file })),
    measure: async (call, times) => numbersOf(await order({ measure: { call, times } })),
    async startLoad(load) {
      await order({ load });
    },
    stopLoad: async () => loadResultOf(await order({ stop: true })),
    async close() {
      child.stdin.end();
      child.kill();
      await closed;
    },
  };
}

function answerOf(value: unknown): Answer {
  if (!isObject(value) || typeof value['status'] !== 'number' || !isObject(value['headers'])) {
    throw new Error(`no answer: ${JSON.stringify(value)}`);
  }
  return { status: value['status'], headers: value['headers'], body: String(value['body']) };
}

function numbersOf(value: unknown): readonly number[] {
  return isList(value) ? value.map(Number) : [];
}

function loadResultOf(value: unknown): LoadResult {
  if (!isObject(value) || !isList(value['failures'])) throw new Error(`no result: ${JSON.stringify(value)}`);
  const failures = value['failures'].filter(isObject).map((failure) => ({
    at: Number(failure['at']),
    step: String(failure['step']),
    status: Number(failure['status']),
    retryAfter: typeof failure['retryAfter'] === 'string' ? failure['retryAfter'] : null,
    why: String(failure['why']),
  }));
  return { served: Number(value['served']), tokens: Number(value['tokens']), failures };
}

function manifestOf({ namespace, name, serviceAccount = 'default', secret, audience }: CallerPod): string {
  const volumes = [
    { name: 'caller', mountPath: '/caller', source: { configMap: { name } } },
    ...(secret === undefined
      ? []
      : [{ name: 'secret', mountPath: '/secret', source: { secret: { secretName: secret } } }]),
    ...(audience === undefined ? [] : [accountVolume(audience)]),
  ];
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: name } },
    spec: {
      serviceAccountName: serviceAccount,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'caller',
          image: readE2eConfig().image,
          imagePullPolicy: 'IfNotPresent',
          command: ['node', '-e', 'setInterval(() => undefined, 1000)'],
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          volumeMounts: volumes.map((volume) => ({ name: volume.name, mountPath: volume.mountPath, readOnly: true })),
        },
      ],
      volumes: volumes.map((volume) => ({ name: volume.name, ...volume.source })),
    },
  };
  const program = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    // One for each pod: two that start at the same time would both create it.
    metadata: { name, namespace },
    data: { 'program.ts': readFileSync('test/e2e/caller/program.ts', 'utf8') },
  };
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [program, pod] });
}

function accountVolume(audience: string) {
  const token = { audience, expirationSeconds: 3600, path: 'token' };
  return {
    name: 'account',
    mountPath: '/account',
    source: { projected: { sources: [{ serviceAccountToken: token }] } },
  };
}
