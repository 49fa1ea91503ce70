import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { once } from 'node:events';
import { assertion, makeSigner, proof } from '../../oauth/assertions.ts';
import type { Signer } from '../../oauth/assertions.ts';
import type { Attack } from '../attack.ts';
import { formText, quietAddress, rudeAddress } from '../requests.ts';
import { quietBox, rudeBox } from '../stage.ts';
import { portOf } from '../../../program/environment.ts';

const rate = 3;

/** */
export const fetches: Attack = {
  resource: 'outgoing fetches',
  what: 'a box has 40 clients whose keys are at a host that never answers',
  served: 200,
  async prepare(start, seconds) {
    const key = await makeSigner('ES256');
    const document = JSON.stringify({ keys: [key.publicJwk] });
    const good = createHttpServer((_request, response) => void response.end(document)).listen(0, '127.0.0.1');
    const hanging = createServer((socket) => void socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await Promise.all([once(good, 'listening'), once(hanging, 'listening')]);
    const [goodHost, hangingHost] = [hostOf(good), hostOf(hanging)];
    const stage = await start({ BOXGATE_JWKS_HOSTS: `${goodHost}, ${hangingHost}` });
    stage.onStop(() => {
      good.closeAllConnections();
      good.close();
      hanging.close();
    });
    const clientsOf = (host: string, count: number) =>
      Array.from({ length: count }, (_, nth) => {
        const id = `client-${String(nth)}`;
        return { kind: 'Client', id, grant_types: ['client_credentials'], jwks_uri: `http://${host}/${id}` } as const;
      });
    // Each of them asks once: what is fetched is kept, and an assertion is good for one time.
    const ofOneRun = rate * (seconds + 3);
    const victims = clientsOf(goodHost, 2 * ofOneRun);
    const others = clientsOf(hangingHost, 40);
    await stage.declare(quietBox, victims);
    await stage.declare(rudeBox, others);
    const asked = await Promise.all(victims.map(({ id }) => tokenRequest(quietBox, quietAddress, key, id)));
    const victim = { connections: 8, rate };
    return {
      victim: { ...victim, requests: asked.slice(0, ofOneRun) },
      victimLater: { ...victim, requests: asked.slice(ofOneRun) },
      attacker: {
        requests: await Promise.all(others.map(({ id }) => tokenRequest(rudeBox, rudeAddress, key, id))),
        connections: 40,
        rate: 40,
      },
    };
  },
};

async function tokenRequest(box: string, from: string, key: Signer, client: string): Promise<string> {
  const text = await assertion(key, client, `http://boxgate.test/boxes/${box}`, {
    claims: { exp: Date.now() / 1000 + 250 },
  });
  return formText({ path: `/boxes/${box}/auth/token`, from }, { grant_type: 'client_credentials', ...proof(text) });
}

function hostOf(server: Server): string {
  return `127.0.0.1:${String(portOf(server))}`;
}
