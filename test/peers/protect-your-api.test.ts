import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { checkManifest } from '../../crds/manifest.ts';
import { startApi } from '../support/api.ts';
import type { DeclaredResource, TestApi } from '../support/api.ts';
import { clientToken } from '../support/client-token.ts';
import { eventually } from '../support/eventually.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import { replaced } from '../support/page-block.ts';
import { goSources } from '../../tools/envtest/go-build.ts';
import { obtainGo } from '../../tools/envtest/go.ts';
import { downloads } from '../../tools/envtest/release.ts';
import { findPython } from '../../tools/needs/python.ts';
import { writtenCommands } from '../dev/written-commands.ts';
import { startProgram } from './documented-program.ts';
import type { DocumentedProgram } from './documented-program.ts';

const page = 'guides/protect-your-api.md';
const example = 'examples/protect-your-api';
const secret = 'a secret: 50 % + 1/2 & more';
const audience = 'https://orders.example';

type Way = 'introspection' | 'check' | 'verify-jwt';
type Language = 'node' | 'python3' | 'go';

const text = readFileSync(`docs/${page}`, 'utf8');
/** Commands of the page that start a program for introspection, one for each language. */
const commands = writtenCommands(text).filter((command) => command.endsWith(' &'));
const languages: readonly Language[] = ['node', 'python3', 'go'];
const ways: readonly Way[] = ['introspection', 'check', 'verify-jwt'];
const goModule = `${example}/go`;
const jose = 'github.com/go-jose/go-jose/v4';

/** Returns the command of the page that starts a program, with a file of this test for what Go builds. */
function commandOf(language: Language, way: Way, built: string): string {
  const command = commands.find((one) => one.startsWith(`${language} `)) ?? '';
  const inForeground = replaced(command, { introspection: way })
    .replaceAll('/tmp/orders', built)
    .slice(0, -' &'.length);
  return inForeground.replace(/(?:^|(?<=&& ))(?=[^&]*$)/, 'exec ');
}

/** Resources that the page declares, with a secret of this test in place of a generated one. */
function declared(): DeclaredResource[] {
  return parseAllDocuments(readFileSync(`${example}/orders.yaml`, 'utf8')).map((document): DeclaredResource => {
    const value: unknown = document.toJS();
    const checked = checkManifest(value);
    if (!checked.ok) throw new Error(JSON.stringify(checked.faults));
    const { kind, metadata, spec } = checked.manifest;
    if (kind === 'Box') throw new Error('the page declares no Box');
    const fields: Record<string, unknown> = spec;
    return { ...fields, kind, id: metadata.name, ...(kind === 'Client' && { secret }) };
  });
}

function caller(id: string, scope: string, settings: object): DeclaredResource {
  const auth = { client_credentials: settings };
  return { kind: 'Client', id, grant_types: ['client_credentials'], secret, scope: [scope], auth };
}

describe(`docs/${page}`, () => {
  let api: TestApi;
  let boxgate: FaultProxy;
  const running = new Map<string, DocumentedProgram>();
  let folders: readonly string[] = [];
  /** Folder with what Go builds. */
  let built: string;

  before(async () => {
    api = await startApi();
    boxgate = await startFaultProxy(Number(new URL(api.url).port));
    const forOrders = { token_format: 'jwt', audience: [audience] };
    await api.declare('shop', [
      ...declared(),
      caller('writer', 'orders:write', forOrders),
      caller('opaque', 'orders:read', { audience: [audience] }),
      caller('brief', 'orders:read', { ...forOrders, access_token_expiration: 2 }),
      caller('elsewhere', 'orders:read', { token_format: 'jwt', audience: ['https://billing.example'] }),
      {
        kind: 'AccessPolicy',
        id: 'opaque-too',
        engine: 'allow',
        link: [{ resourceType: 'Client', id: 'opaque' }],
        apps: ['orders.example'],
      },
    ]);
    const go = await obtainGo(process.env, () => undefined, downloads.toolchain);
    const [, version = ''] = new RegExp(`${jose} (v\\S+)`).exec(readFileSync(`${goModule}/go.mod`, 'utf8')) ?? [];
    await goSources(go, process.env, goModule, `${jose}@${version}`);
    const python = findPython(process.env) ?? 'python3';
    folders = [process.execPath, python, go].map((program) => path.dirname(program));
    built = mkdtempSync(path.join(tmpdir(), 'boxgate-orders-'));
    for (const language of languages) {
      for (const way of ways) running.set(`${language} ${way}`, await start(language, way));
    }
  });
  after(async () => {
    for (const program of running.values()) await program.stop();
    await boxgate.close();
    await api.stop();
    rmSync(built, { recursive: true });
  });

  function start(language: Language, way: Way, more: Readonly<Record<string, string>> = {}) {
    const command = commandOf(language, way, path.join(built, way));
    return startProgram(['bash', '--norc', '-c', command], {
      PATH: [...folders, process.env['PATH']].join(path.delimiter),
      // Where Go keeps what it has downloaded and compiled.
      HOME: process.env['HOME'] ?? '',
      ...{ GOTOOLCHAIN: 'local', GOFLAGS: '-mod=readonly -buildvcs=false', CGO_ENABLED: '0' },
      BOXGATE_URL: `http://127.0.0.1:${String(boxgate.port)}/boxes/shop`,
      ISSUER: 'http://boxgate.test/boxes/shop',
      AUDIENCE: audience,
      CLIENT_ID: 'orders-api',
      CLIENT_SECRET: secret,
      ...more,
    });
  }

  const tokenOf = (id: string, scope?: string): Promise<string> =>
    clientToken(`${api.url}/boxes/shop`, id, secret, scope === undefined ? {} : { scope });

  interface Asked {
    readonly authorization?: string;
    readonly path?: string;
    readonly method?: string;
  }

  async function ask(
    program: DocumentedProgram | undefined,
    { authorization, path = '/orders/7', method = 'GET' }: Asked,
  ) {
    const headers = authorization === undefined ? undefined : { Authorization: authorization };
    const reply = await fetch(`${program?.url ?? ''}${path}`, { method, ...(headers && { headers }) });
    return { status: reply.status, challenge: reply.headers.get('www-authenticate'), text: await reply.text() };
  }

  for (const [language, way] of languages.flatMap((one) => ways.map((other) => [one, other] as const))) {
    const answer = (asked: Asked) => ask(running.get(`${language} ${way}`), asked);

    describe(`${language}, ${way}`, () => {
      it('answers a caller with a valid token that covers the request', async () => {
        for (const scheme of ['Bearer', 'bearer']) {
          const { status, text } = await answer({
            authorization: `${scheme} ${await tokenOf('reports', 'orders:read')}`,
          });
          expect([status, text]).to.deep.equal([200, '[{ "order": 7 }]']);
        }
      });

      it('asks for a token, and refuses what is none or is for another API', async () => {
        const token = await tokenOf('reports', 'orders:read');
        const wrong = [
          undefined,
          '',
          'Bearer',
          'Bearer bgt_nonsense',
          `Basic ${token}`,
          `Bearer ${token.slice(0, -8)}AAAAAAAA`,
          `Bearer ${await tokenOf('elsewhere', 'orders:read')}`,
        ];
        for (const authorization of wrong) {
          const { status, challenge, text } = await answer(authorization === undefined ? {} : { authorization });
          expect([status, challenge, text], String(authorization)).to.deep.equal([401, 'Bearer', '']);
        }
      });

      it('refuses a valid token that does not cover the request', async () => {
        const { status, text } = await answer({ authorization: `Bearer ${await tokenOf('writer', 'orders:write')}` });
        expect([status, text]).to.deep.equal([403, '']);
      });

      it('asks for another right where the method is another', async () => {
        const reading = { authorization: `Bearer ${await tokenOf('reports', 'orders:read')}`, method: 'POST' };
        expect((await answer(reading)).status).to.equal(403);
        if (way === 'check') return;
        const writing = { authorization: `Bearer ${await tokenOf('writer', 'orders:write')}`, method: 'POST' };
        expect((await answer(writing)).status).to.equal(200);
      });

      it('refuses a token that has expired', async () => {
        const authorization = `Bearer ${await tokenOf('brief', 'orders:read')}`;
        // Sooner than the minute that some libraries add.
        await eventually('it is refused', async () => (await answer({ authorization })).status === 401, 30_000);
      });

      it(way === 'verify-jwt' ? 'takes JWTs only' : 'takes an opaque token too', async () => {
        const { status } = await answer({ authorization: `Bearer ${await tokenOf('opaque', 'orders:read')}` });
        expect(status).to.equal(way === 'verify-jwt' ? 401 : 200);
      });

      it(
        way === 'verify-jwt' ? 'takes a revoked token until it expires' : 'refuses a revoked token at once',
        async () => {
          const token = await tokenOf('reports', 'orders:read');
          const authorization = `Bearer ${token}`;
          expect((await answer({ authorization })).status).to.equal(200);
          const closed = await fetch(`${api.url}/boxes/shop/Session`, { method: 'DELETE', headers: { authorization } });
          expect(closed.status).to.equal(200);
          expect((await answer({ authorization })).status).to.equal(way === 'verify-jwt' ? 200 : 401);
        },
      );

      if (way === 'check') {
        it('lets the policies of the box decide about the path', async () => {
          const authorization = `Bearer ${await tokenOf('reports', 'orders:read')}`;
          for (const [path, expected] of [
            ['/orders', 200],
            ['/orders/7?full=1', 200],
            ['/orders-internal', 403],
            ['/orders/%2e%2e/admin', 403],
            ['/orders%2f..%2fadmin', 403],
          ] as const) {
            expect((await answer({ authorization, path })).status, path).to.equal(expected);
          }
        });
      }

      it('is closed while Boxgate is down or silent, and open again afterwards', async () => {
        const authorization = `Bearer ${await tokenOf('reports', 'orders:read')}`;
        const fresh = await start(language, way);
        try {
          boxgate.isClosed = true;
          boxgate.cut();
          expect((await ask(fresh, { authorization })).status, 'down').to.equal(503);
          expect((await answer({ authorization })).status, 'down, keys known').to.equal(
            way === 'verify-jwt' ? 200 : 503,
          );
          boxgate.isClosed = false;
          boxgate.delay = 3000;
          const { status, text } = await ask(fresh, { authorization });
          expect([status, text], 'silent').to.deep.equal([503, '']);
        } finally {
          boxgate.isClosed = false;
          boxgate.delay = 0;
          boxgate.cut();
          await fresh.stop();
        }
        expect((await answer({ authorization })).status).to.equal(200);
      });

      if (way === 'introspection') {
        it('is closed where its own secret is wrong, and logs the answer of Boxgate', async () => {
          const misconfigured = await start(language, way, { CLIENT_SECRET: 'not the secret' });
          try {
            const authorization = `Bearer ${await tokenOf('reports', 'orders:read')}`;
            await eventually('the answer 401 of Boxgate is logged', async () => {
              expect((await ask(misconfigured, { authorization })).status).to.equal(503);
              return /(?:Boxgate answered|HTTP Error) 401/.test(misconfigured.said());
            });
          } finally {
            await misconfigured.stop();
          }
        });
      }
    });
  }

  it('shows the objects and a program as the example has them, and starts one in each language', () => {
    for (const [language, file] of [
      ['yaml', 'orders.yaml'],
      ['js', 'introspection.mjs'],
    ] as const) {
      const shown = [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
        ([, block]) => block,
      );
      expect(shown).to.deep.equal([readFileSync(`${example}/${file}`, 'utf8')]);
    }
    expect(commands.map((command) => command.split(' ', 1)[0])).to.deep.equal(languages);
  });
});
