import { stringify } from 'yaml';
import { API_VERSION } from '../../crds/kind.ts';
import { startDev, urlsOf } from '../dev/dev-process.ts';
import { temporaryFolder } from '../dev/temporary-folder.ts';
import { startApi } from '../support/api.ts';
import type { DeclaredResource } from '../support/api.ts';
import { freshDatabase } from '../support/postgres.ts';

/** A box that the interface document is held against. */
interface ServerUnderTest {
  /** `{base_url}`. */
  readonly baseUrl: string;
  stop(): Promise<void>;
}

/** Every way in which a box is served; each gets the resources that the cases need. */
const servers: Readonly<Record<string, (declared: readonly DeclaredResource[]) => Promise<ServerUnderTest>>> = {
  'the API': async (declared) => {
    const api = await startApi();
    await api.declare('default', declared);
    return { baseUrl: `${api.url}/boxes/default`, stop: () => api.stop() };
  },
  '`./boxgate dev`': async (declared) => {
    const folder = temporaryFolder();
    const database = await freshDatabase();
    folder.write('declared.yaml', declared.map((resource) => stringify(manifest(resource))).join('---\n'));
    const args = urlsOf(database);
    const { boxgate, url } = await startDev(folder.root, args, { command: ['npx', 'boxgate'] });
    return {
      baseUrl: url,
      async stop() {
        await boxgate.end();
        folder.remove();
        await database.drop();
      },
    };
  },
};

/** The resource as a person declares it; there is one Box, and its name is always the same. */
function manifest({ kind, id, ...spec }: DeclaredResource): object {
  return { apiVersion: API_VERSION, kind, metadata: { name: kind === 'Box' ? 'box' : id }, spec };
}

/**
 * Cases of the interface document, once for each way in which a box is served. They read `{base_url}` when they run: it
 * is not known before.
 */
export function describeInterface(
  part: string,
  declared: readonly DeclaredResource[],
  cases: (baseUrl: () => string) => void,
): void {
  for (const [where, start] of Object.entries(servers)) {
    describe(`the interface document on ${part}, at ${where}`, () => {
      let server: ServerUnderTest | undefined;

      before(async () => {
        server = await start(declared);
      });
      after(() => server?.stop());

      cases(() => server?.baseUrl ?? '');
    });
  }
}
