import { expect } from 'chai';
import { startApiProcess } from '../support/api-process.ts';
import type { ApiProcess } from '../support/api-process.ts';
import { eventually } from '../support/eventually.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import type { OwnPostgres } from '../support/own-postgres.ts';
import { ask, declareBox, introspect, issue, listByHost } from './box-calls.ts';
import type { Answer, Box } from './box-calls.ts';
import { names, threeDatabases } from './three-databases.ts';
import type { Name, ThreeDatabases } from './three-databases.ts';

/** `make faults` lets a database be away for 30. */
const seconds = Number(process.env['BOXGATE_OUTAGE_SECONDS'] ?? 3);

/** An answer, and the database of its box. */
interface Sample extends Answer {
  readonly name: Name;
  readonly request: string;
}

describe('one of several databases', () => {
  let postgres: OwnPostgres;
  let proxy: FaultProxy;
  let databases: ThreeDatabases;
  let api: ApiProcess;
  let boxes: readonly { readonly name: Name; readonly box: Box; readonly token: string }[];

  before(async () => {
    postgres = await startOwnPostgres();
    databases = await threeDatabases({ eu: postgres });
    proxy = await startFaultProxy(Number(new URL(databases.urls.home).port));
    const { BOXGATE_DATABASE_URL, ...environment } = databases.environment({ home: proxy.port });
    api = await startApiProcess(BOXGATE_DATABASE_URL, environment);
    boxes = await Promise.all(
      names.map(async (name) => {
        const box = await declareBox(api, `in-${name}`, name);
        return { name, box, token: String((await issue(api, box)).json['access_token']) };
      }),
    );
  });
  after(async () => {
    await api.end('SIGTERM');
    await proxy.close();
    await databases.drop();
    await postgres.remove();
  });

  /** Asks the boxes of all databases until work is done. */
  async function load(work: () => Promise<void>): Promise<readonly Sample[]> {
    const samples: Sample[] = [];
    let isOver = false;
    const askers = boxes.flatMap(({ name, box, token }) => {
      const requests: Readonly<Record<string, () => Promise<Answer>>> = {
        'a token': () => issue(api, box),
        'a check': () => introspect(api, box, token),
        'a list': () => ask(api, box, ['GET', '/Client'], token),
        'a list by host': () => listByHost(api, box, token),
      };
      return Object.entries(requests).map(async ([request, send]) => {
        while (!isOver) samples.push({ name, request, ...(await send()) });
      });
    });
    await work().finally(() => {
      isOver = true;
    });
    await Promise.all(askers);
    return samples;
  }

  /** Lets a database be away under load, and looks at all answers. */
  async function away(
    name: Name,
    leave: () => Promise<void> | void,
    comeBack: () => Promise<void> | void,
  ): Promise<void> {
    const failing = (samples: readonly Sample[]): readonly Sample[] => samples.filter(({ status }) => status !== 200);
    let back = 0;
    const samples = await load(async () => {
      await leave();
      const end = performance.now() + 1_000 * seconds;
      await eventually(
        'the time of the outage is over',
        async () => {
          expect((await fetch(`${api.managementUrl}/readyz`)).status, 'readiness').to.equal(200);
          return performance.now() > end;
        },
        2_000 * seconds + 60_000,
      );
      await comeBack();
      back = performance.now();
      const own = boxes.filter((one) => one.name === name);
      await eventually('its boxes are served', async () => {
        const answers = own.flatMap(({ box, token }) => [issue(api, box), ask(api, box, ['GET', '/Client'], token)]);
        return (await Promise.all(answers)).every(({ status }) => status === 200);
      });
      back = performance.now() - back;
    });
    if (seconds > 3)
      process.stdout.write(`      ${name}: ${String(samples.length)} answers; back after ${back.toFixed(0)} ms\n`);
    const elsewhere = samples.filter((sample) => sample.name !== name);
    expect(failing(elsewhere)).to.deep.equal([]);
    for (const each of ['a token', 'a check', 'a list', 'a list by host']) {
      const answered = elsewhere.filter(({ request }) => request === each).length;
      expect(answered, each).to.be.greaterThan(10);
    }
    const own = failing(samples.filter((sample) => sample.name === name));
    expect(own.length).to.be.greaterThan(0);
    for (const { request, status, retryAfter } of own) {
      expect([request, status]).to.deep.equal([request, 503]);
      if (request !== 'a list by host') expect(retryAfter, request).to.match(/^[1-9]\d*$/);
    }
  }

  it('that is killed fails its own boxes alone, until it is back', async function () {
    this.timeout(300_000 + 3_000 * seconds);
    await away(
      'eu',
      () => postgres.kill(),
      () => postgres.restart(),
    );
  });

  it('that does not answer does the same', async function () {
    this.timeout(300_000 + 3_000 * seconds);
    await away(
      'eu',
      () => postgres.freeze(),
      () => postgres.thaw(),
    );
  });

  it('that is home does the same; a new box has to wait for it', async function () {
    this.timeout(300_000 + 3_000 * seconds);
    let refusal: unknown;
    await away(
      'home',
      async () => {
        proxy.isClosed = true;
        proxy.cut();
        refusal = await declareBox(api, 'new', 'eu').catch((error: unknown) => error);
      },
      () => {
        proxy.isClosed = false;
      },
    );
    expect(refusal).to.include({ code: 'unavailable' });
    const box = await declareBox(api, 'new', 'eu');
    expect(await databases.servedIn(box.name)).to.deep.equal(['eu']);
  });
});
