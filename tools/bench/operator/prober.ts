import { isObject } from '../../../crds/json-value.ts';
import { Agent, request } from 'node:http';
import type { BenchCluster } from './cluster.ts';
import { follow, kubeApi } from './kube.ts';
import { create, generated } from './objects.ts';

/** Times of one probe, in milliseconds since the API server answered the create. */
export interface Probe {
  /** Until the Secret was seen; below zero when that was before the answer. */
  readonly secret: number;
  /** Until a token request with that Secret succeeded. */
  readonly token: number;
}

/** Makes a Client, waits for its Secret on a watch, and asks for a token until it gets one. */
export interface Prober {
  probe(name: string): Promise<Probe>;
  end(): void;
}

/** Longest wait for a token, milliseconds; and between two tries. */
const patience = 60_000;
const pause = 2;

/** Begins to watch the Secrets of a box. */
export async function startProber(cluster: BenchCluster, box: string): Promise<Prober> {
  const waiting = new Map<string, (secret: string) => void>();
  const agent = new Agent({ keepAlive: true });
  const end = await follow(kubeApi(cluster.plane.kubeconfig), `/api/v1/namespaces/${box}/secrets`, ({ object }) => {
    const { metadata, data } = object;
    if (isObject(metadata) && isObject(data)) waiting.get(String(metadata['name']))?.(String(data['client_secret']));
  });
  const url = new URL(`${cluster.api.url}/boxes/${box}/auth/token`);
  return {
    async probe(name) {
      const seen = new Promise<{ secret: string; at: number }>((resolve) => {
        waiting.set(name, (data) => resolve({ secret: Buffer.from(data, 'base64').toString(), at: performance.now() }));
      });
      await create(cluster.plane, 'clients', box, name, generated);
      const taken = performance.now();
      const { secret, at } = await seen;
      waiting.delete(name);
      const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: name, client_secret: secret });
      while ((await post(url, agent, body.toString())) !== 200) {
        if (performance.now() - taken > patience) throw new Error(`${name} gets no token`);
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
      return { secret: at - taken, token: performance.now() - taken };
    },
    end() {
      end();
      agent.destroy();
    },
  };
}

function post(url: URL, agent: Agent, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', reject).end(body);
  });
}
