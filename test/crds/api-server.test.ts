import { isObject, isNested } from '../../crds/path.ts';
import { expect } from 'chai';
import { KINDS } from '../../crds/kind.ts';
import type { ApiAnswer } from '../support/cluster/api-call.ts';
import { controlPlane, type ControlPlane } from '../support/cluster/control-plane.ts';
import { installCrds, kubectl } from '../support/cluster/install-crds.ts';
import type { Row } from './objects/row.ts';
import { table } from './objects/table.ts';

/**
 * Answer of an API server to an object. A rejection names fields in its message and one field in each of its causes.
 */
interface Answer {
  readonly status: number;
  readonly message: string;
  readonly fields: readonly string[];
}

describe('the custom resource definitions on a real API server', () => {
  let plane: ControlPlane;
  const answers = new Map<Row, Answer>();
  before(async () => {
    plane = await controlPlane();
    await installCrds(plane);
    await plane.call({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'shop' } } });
    const send = async (rows: Iterable<Row>): Promise<void> => {
      for (const row of rows) answers.set(row, await answerTo(plane, row));
    };
    // First those that are stored, one after the other: they share their names with the rest.
    await send(table.filter(({ old }) => old !== undefined));
    const dryRuns = table.filter(({ old }) => old === undefined).values();
    await Promise.all([1, 2, 3, 4].map(() => send(dryRuns)));
  });

  for (const verdict of ['accepted', 'valid-false'] as const) {
    describe(`takes what is ${verdict}`, () => {
      for (const row of table.filter((one) => one.verdict === verdict)) {
        it(`${row.kind}: ${row.title}`, () => {
          const { status, message } = answers.get(row) ?? expect.fail('was not sent');
          expect(message).to.equal('');
          expect(status).to.be.oneOf([200, 201]);
        });
      }
    });
  }

  describe('refuses, and names the field', () => {
    for (const row of table.filter(({ verdict }) => verdict === 'refused')) {
      it(`${row.kind}: ${row.title}`, () => {
        const { status, message, fields } = answers.get(row) ?? expect.fail('was not sent');
        const paths = row.paths.map(withoutIndex);
        expect(status).to.be.oneOf([400, 422]);
        expect(fields, message).to.not.be.empty;
        // Rules about the members of a list stand at the list.
        const others = fields.filter((field) => !paths.some((path) => isNested(withoutIndex(field), path)));
        expect(others, message).to.deep.equal([]);
      });
    }
  });

  it('K-09 describes every field to kubectl explain', async () => {
    for (const { plural } of Object.values(KINDS)) {
      for (const part of ['', '.spec', '.status', '.status.conditions']) {
        const text = await kubectl(plane, 'explain', `${plural}.boxgate.dev${part}`);
        expect(text).to.contain('DESCRIPTION:').and.to.not.contain('<no description>').and.to.not.contain('<empty>');
      }
    }
    expect(await kubectl(plane, 'explain', 'client.spec.auth')).to.match(/ {2}client_credentials\t<Object>\n +\S+/);
  });

  it('peer defect 13: has a fresh object know of itself that nobody has seen it (kstatus)', async () => {
    const row = table.find(({ kind, verdict }) => kind === 'Client' && verdict === 'accepted');
    const body = isObject(row?.object) ? { ...row.object, metadata: { name: 'fresh', namespace: 'shop' } } : {};
    const path = '/apis/boxgate.dev/v1/namespaces/shop/clients';
    const made = await plane.call({ method: 'POST', path, body });
    expect(made.body).to.have.nested.property('status.observedGeneration', -1);
    await plane.call({ method: 'DELETE', path: `${path}/fresh` });
  });
});

/** Sends an object without storing it, as strictly as kubectl does; a row with an old one replaces that. */
async function answerTo(plane: ControlPlane, { kind, object, old }: Row): Promise<Answer> {
  const path = `/apis/boxgate.dev/v1/namespaces/shop/${KINDS[kind].plural}`;
  const query = 'dryRun=All&fieldValidation=Strict';
  if (old === undefined) return answerOf(await plane.call({ method: 'POST', path: `${path}?${query}`, body: object }));
  const made = await plane.call({ method: 'POST', path, body: old });
  const { name, resourceVersion } = metadataOf(made.body);
  const body = isObject(object) ? { ...object, metadata: { ...metadataOf(object), resourceVersion } } : object;
  const answer = answerOf(await plane.call({ method: 'PUT', path: `${path}/${String(name)}?${query}`, body }));
  await plane.call({ method: 'DELETE', path: `${path}/${String(name)}` });
  return answer;
}

function metadataOf(object: unknown): Record<string, unknown> {
  return isObject(object) && isObject(object['metadata']) ? object['metadata'] : {};
}

function answerOf({ status, body }: ApiAnswer): Answer {
  if (status < 300) return { status, message: '', fields: [] };
  const message = isObject(body) ? String(body['message']) : String(body);
  const details = isObject(body) && isObject(body['details']) ? body['details'] : {};
  const causes = Array.isArray(details['causes']) ? details['causes'].filter(isObject) : [];
  const unknown = [...message.matchAll(/unknown field "((?:[^"\\]|\\.)*)"/g)].map(([, field = '']) => field);
  return { status, message, fields: [...causes.flatMap(fieldOf), ...unknown] };
}

/** A rule about metadata can have no field of its own (`<nil>`): its sentence begins with it. */
function fieldOf({ field, message }: Record<string, unknown>): readonly string[] {
  if (field !== '<nil>') return [String(field)];
  const [, named] = /^Invalid value: "object": (metadata\.\w+) /.exec(String(message)) ?? [];
  // Else the remark that rules between fields were not looked at because a field is wrong.
  return named === undefined ? [] : [named];
}

function withoutIndex(path: string): string {
  return path.replaceAll(/\[\d+\]/g, '');
}
