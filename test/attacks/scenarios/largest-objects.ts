import { LONGEST_RESOURCE } from '../../../crds/resource-size.ts';
import type { Attack } from '../attack.ts';
import { appLoad, declareAdmin } from '../clients.ts';
import { requestText, rudeAddress } from '../requests.ts';
import { rudeBox } from '../stage.ts';

/** Objects of each of the two kinds. */
const objects = 200;

/** Returns the largest client that may be stored, its details filled with a letter. */
function largestClient(nth: number, letter = 'x'): object {
  const uris = Array.from({ length: 16 }, (_, one) => `https://app.example/${String(one)}/${'x'.repeat(1_510)}`);
  const client = {
    resourceType: 'Client',
    id: `large-${String(nth)}`,
    grant_types: [],
    post_logout_redirect_uris: uris,
  };
  return { ...client, details: { text: letter.repeat(LONGEST_RESOURCE - JSON.stringify(client).length - 30) } };
}

/** Returns a policy with the most links that it may have, of about the same size. */
function largestPolicy(nth: number): object {
  const link = (one: number) => ({ resourceType: 'Client', id: `client-${String(one)}-${'y'.repeat(14)}` });
  return {
    resourceType: 'AccessPolicy',
    id: `large-${String(nth)}`,
    engine: 'allow',
    link: Array.from({ length: 500 }, (_, one) => link(one)),
  };
}

/** Each of 400 objects has the largest size; see rule 4 of the decision "Limits instead of machinery". */
export const largestObjects: Attack = {
  resource: 'event loop and memory',
  what: 'a box of 400 objects of the largest size is listed in JSON and YAML, and changed, over 16 connections',
  served: 200,
  async prepare(start) {
    const stage = await start();
    const { token } = await declareAdmin(stage, rudeBox);
    const authorization = `Bearer ${token}`;
    const box = `/boxes/${rudeBox}`;
    const put = (kind: string, nth: number, body: object) =>
      requestText({
        method: 'PUT',
        path: `${box}/${kind}/large-${String(nth)}`,
        from: rudeAddress,
        authorization,
        type: 'application/json',
        body: JSON.stringify(body),
      });
    for (let nth = 0; nth < objects; nth += 1) {
      for (const [kind, body] of [
        ['Client', largestClient(nth)],
        ['AccessPolicy', largestPolicy(nth)],
      ] as const) {
        const { status } = await fetch(`${stage.process.url}${box}/${kind}/large-${String(nth)}`, {
          method: 'PUT',
          headers: { Authorization: authorization, 'Content-Type': 'application/json', 'X-Forwarded-For': rudeAddress },
          body: JSON.stringify(body),
        });
        if (status !== 201) throw new Error(`the object was not stored: ${String(status)}`);
      }
    }
    const list = (kind: string, accept: string) =>
      requestText({ path: `${box}/${kind}?_count=1000`, from: rudeAddress, authorization, accept });
    const requests = [
      list('Client', 'application/json'),
      list('AccessPolicy', 'application/yaml'),
      list('AccessPolicy', 'application/json'),
      list('Client', 'application/yaml'),
      put('Client', 0, largestClient(0, 'y')),
      put('Client', 0, largestClient(0, 'z')),
    ];
    return { victim: await appLoad(stage), attacker: { requests, connections: 16, rate: undefined } };
  },
};
