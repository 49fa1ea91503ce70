import { expect } from 'chai';
import { Agent, request } from 'node:http';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { createManagement } from '../support/api.ts';
import { startApiProcess } from '../support/api-process.ts';
import type { ApiProcess } from '../support/api-process.ts';
import { eventually } from '../support/eventually.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';

const secret = generateClientSecret();

describe('F-32 an API that is told to stop under load', () => {
  let database: TestDatabase;
  let api: ApiProcess;

  beforeEach(async () => {
    database = await freshDatabase();
    api = await startApiProcess(database.apiUrl);
    await createManagement(api.managementUrl, api.managementKey).declare('default', [
      { kind: 'Client', id: 'worker', secret, grant_types: ['client_credentials'] },
    ]);
  });
  afterEach(async () => {
    await api.end('SIGKILL');
    await database.drop();
  });

  /** Sends a request. Returns its status, with `elsewhere` if the server closes the connection, or its error. */
  function ask(agent: Agent): Promise<string> {
    return new Promise((resolve) => {
      const headers = {
        Authorization: `Basic ${btoa(`worker:${secret}`)}`,
        'Content-Type': 'application/x-www-form-urlencoded',
      };
      const outgoing = request(
        `${api.url}/boxes/default/auth/token`,
        { agent, method: 'POST', headers },
        (response) => {
          response.resume();
          response.on('end', () => {
            resolve(`${String(response.statusCode)}${response.headers.connection === 'close' ? ' elsewhere' : ''}`);
          });
          response.on('error', () => {
            resolve('an answer that broke off');
          });
        },
      );
      outgoing.on('error', (error: Error & { code?: string }) => {
        resolve(error.code ?? error.message);
      });
      outgoing.end('grant_type=client_credentials');
    });
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`by ${signal} answers every request and ends with 0`, async () => {
      const answers: string[] = [];
      // As whoever comes through a load balancer: told to go elsewhere, it goes.
      const work = async (isKept: boolean): Promise<void> => {
        let agent = new Agent({ keepAlive: true, maxSockets: 1 });
        for (let answer = '200'; answer === '200'; answers.push(answer)) {
          answer = await ask(agent);
          if (isKept && answer === '200') continue;
          agent.destroy();
          agent = new Agent({ keepAlive: true, maxSockets: 1 });
        }
      };
      const load = Array.from({ length: 12 }, (_, nth) => work(nth % 3 > 0));
      await eventually('the load goes on', () => answers.length > 200);
      const code = await api.end(signal);
      await Promise.all(load);
      expect(new Set(answers)).to.deep.equal(new Set(['200', '200 elsewhere']));
      expect(code).to.equal(0);
      expect(api.lines.at(-1)).to.include('"msg":"stopped"');
    });
  }

  it('ends also when callers hold their connections open and send nothing', async () => {
    const agents = Array.from({ length: 5 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    expect(await Promise.all(agents.map(ask))).to.deep.equal(Array(5).fill('200'));
    expect(await api.end('SIGTERM')).to.equal(0);
    agents.forEach((agent) => {
      agent.destroy();
    });
  });
});
