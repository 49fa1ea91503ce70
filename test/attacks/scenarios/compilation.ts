import type { Attack } from '../attack.ts';
import { appLoad, declareAdmin } from '../clients.ts';
import { requestText, rudeAddress } from '../requests.ts';
import { rudeBox } from '../stage.ts';

/** A policy of about 30 KB, each of whose patterns is compiled for itself. */
function largePolicy(nth: number): string {
  const property = (one: number): readonly [string, object] => [
    `p${String(one)}`,
    { type: 'string', pattern: `^[a-z]{${String(nth + 3)}}${String(one)}$` },
  ];
  const properties = Object.fromEntries(Array.from({ length: 480 }, (_, one) => property(one)));
  const schema = { type: 'object', properties: { body: { type: 'object', properties } } };
  return JSON.stringify({
    resourceType: 'AccessPolicy',
    id: 'large',
    engine: 'json-schema',
    subjects: 'anyone',
    schema,
  });
}

/** */
export const compilation: Attack = {
  resource: 'event loop',
  what: 'a policy with 480 patterns is replaced by another one and used, again and again',
  served: 200,
  async prepare(start) {
    const stage = await start();
    const { token } = await declareAdmin(stage, rudeBox);
    const [from, path] = [rudeAddress, `/boxes/${rudeBox}/AccessPolicy/large`];
    const put = { method: 'PUT', path, from, type: 'application/json', authorization: `Bearer ${token}` };
    const requests = Array.from({ length: 40 }, (_, nth) => [
      requestText({ ...put, body: largePolicy(nth) }),
      requestText({ path: `/boxes/${rudeBox}/Client`, from }),
    ]).flat();
    return { victim: await appLoad(stage), attacker: { requests, connections: 4, rate: 4 } };
  },
};
