import { expect } from 'chai';
import fc from 'fast-check';
import { faultSentence } from '../../crds/fault.ts';
import { KINDS, type Kind } from '../../crds/kind.ts';
import { manifestSchemas } from '../../crds/manifest-schema.ts';
import { checkResource } from '../../crds/validate.ts';
import { accessPolicySchema } from '../../crds/access-policy.ts';
import { boxSchema } from '../../crds/box.ts';
import { groupSchema } from '../../crds/group.ts';
import { clientSchema } from '../../crds/client.ts';
import { isResourceToo, resourceOf } from './objects/as-resource.ts';
import { table } from './objects/table.ts';

const machine = { id: 'app', grant_types: ['client_credentials'] };

function sentences(kind: Kind, value: unknown): string[] {
  const checked = checkResource(kind, value);
  return checked.ok ? [] : checked.faults.map(faultSentence);
}

describe('checkResource', () => {
  it('returns the resource with its type', () => {
    const checked = checkResource('Client', { resourceType: 'Client', ...machine, secret: 's3cret' });
    expect(checked).to.deep.equal({ ok: true, resource: { resourceType: 'Client', ...machine, secret: 's3cret' } });
  });

  it('takes a missing resourceType for the kind that was asked for', () => {
    expect(checkResource('Client', machine)).to.deep.equal({
      ok: true,
      resource: { resourceType: 'Client', ...machine },
    });
  });

  it('C-01 refuses another resourceType, a missing id and unknown fields', () => {
    expect(
      sentences('Client', { resourceType: 'AccessPolicy', grant_types: ['implicit'], box: 'other' }),
    ).to.deep.equal([
      'id must be given',
      'box is not a known field',
      'resourceType must be Client, not "AccessPolicy"',
      'auth.implicit.redirect_uri must be given when grant_types has implicit',
    ]);
  });

  it('leaves what was submitted as it was', () => {
    const submitted = Object.freeze({ ...machine, link: undefined });
    checkResource('Client', submitted);
    expect(Object.keys(submitted)).to.deep.equal(['id', 'grant_types', 'link']);
  });

  it('takes null as the secret, which removes the stored one, and nowhere else', () => {
    expect(sentences('Client', { ...machine, secret: null })).to.deep.equal([]);
    expect(sentences('Client', { ...machine, name: null })).to.deep.equal(['name must be a string, not null']);
  });

  it('stores links in their first form', () => {
    const checked = checkResource('AccessPolicy', {
      id: 'readers',
      engine: 'allow',
      link: [{ reference: 'Client/app' }, { resourceType: 'Group', id: 'a/b' }, { reference: 'Group/a/b' }],
    });
    expect(checked).to.deep.equal({
      ok: true,
      resource: {
        resourceType: 'AccessPolicy',
        id: 'readers',
        engine: 'allow',
        link: [
          { resourceType: 'Client', id: 'app' },
          { resourceType: 'Group', id: 'a/b' },
          { resourceType: 'Group', id: 'a/b' },
        ],
      },
    });
  });

  it('C-02 refuses 100,000 grants in one sentence about their number', () => {
    expect(
      sentences('Client', { id: 'app', grant_types: Array.from({ length: 100_000 }, () => 'implicit') }),
    ).to.deep.equal(['grant_types must have at most 20000 entries']);
  });

  it('tells at most 100 faults, and how many more there are', () => {
    const wrong = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`field${i}`, 1]));
    const found = sentences('Client', { ...machine, ...wrong });
    expect(found).to.have.length(101);
    expect(found.at(-1)).to.equal('has 200 more faults');
  });

  it("C-03 takes JSON's 1e3 for 1000 and refuses what is no whole number of seconds", () => {
    const lasting = (text: string) =>
      sentences(
        'Client',
        JSON.parse(
          `{"id":"app","grant_types":["client_credentials"],"auth":{"client_credentials":{"access_token_expiration":${text}}}}`,
        ),
      );
    const path = 'auth.client_credentials.access_token_expiration';
    const cases: [string, string[]][] = [
      ['1e3', []],
      ['1000.0', []],
      ['0', [`${path} must be at least 1 (seconds), not 0`]],
      ['-1', [`${path} must be at least 1 (seconds), not -1`]],
      ['1.5', [`${path} must be a whole number of seconds, not 1.5`]],
      ['"60"', [`${path} must be a whole number of seconds: write 60 without quotes, not "60"`]],
      ['null', [`${path} must be a whole number of seconds, not null`]],
      ['315360001', [`${path} must be at most 315360000 (seconds), not 315360001`]],
      ['4294967296', [`${path} must be at most 315360000 (seconds), not 4294967296`]],
      ['1e400', [`${path} must be a whole number of seconds, not a number that is too large`]],
    ];
    for (const [text, expected] of cases) expect(lasting(text), text).to.deep.equal(expected);
  });

  it('C-05 tells who wrote an unquoted secret in YAML to quote it', () => {
    expect(sentences('Client', { ...machine, secret: 123 })).to.deep.equal([
      'secret must be a string, not a number: quote it in YAML',
    ]);
  });

  it('P-02 refuses an engine that is missing, unknown or not written exactly so', () => {
    for (const engine of [undefined, 'ALLOW', 'allow ', 'deny', null, ['allow']]) {
      expect(sentences('AccessPolicy', { id: 'a', engine }), String(engine)).to.have.length(1);
    }
  });

  it('C-12 validates addresses by their form and fetches nothing', () => {
    expect(sentences('Client', { ...machine, jwks_uri: 'https://10.0.0.1/jwks.json' })).to.deep.equal([]);
  });

  describe('over REST', () => {
    it('R-40 a link takes the number that /users and /Group show; a manifest quotes it', () => {
      for (const resourceType of ['User', 'Group']) {
        const checked = checkResource('AccessPolicy', { id: 'a', engine: 'allow', link: [{ resourceType, id: 17 }] });
        expect(checked.ok && checked.resource.link).to.deep.equal([{ resourceType, id: '17' }]);
      }
    });

    for (const row of table
      .filter(isResourceToo)
      .filter(({ title }) => title !== 'a link with an id that is a number')
      // Over REST the keys are imported after this check, so that stored clients stay in force.
      .filter(
        ({ title, paths }) =>
          !title.startsWith('R-21') || !paths.some((path) => /keys\[\d\](\.true|\.false)?$/.test(path)),
      )) {
      it(`${row.kind}: ${row.title}: the same verdict as in a manifest`, () => {
        const checked = checkResource(row.kind, resourceOf(row));
        const paths = checked.ok ? [] : [...new Set(checked.faults.map(({ path }) => path))].sort();
        expect(paths).to.deep.equal(row.paths.map((path) => path.replace(/^spec\./, '')).sort());
      });
    }
  });

  it('C-01 knows the same fields in a manifest and over REST, but for those of Kubernetes', () => {
    const ofKubernetes = /[A-Z]|^(suspend|rotation|adoption|bootstrap_admin)$/;
    const schemas = { Client: clientSchema, AccessPolicy: accessPolicySchema, Box: boxSchema, Group: groupSchema };
    for (const { kind } of Object.values(KINDS)) {
      const inSpec = Object.keys(manifestSchemas[kind].properties.spec.properties);
      const overRest = Object.keys(schemas[kind].properties);
      expect(inSpec.filter((name) => !ofKubernetes.test(name) && name !== 'id').sort()).to.deep.equal(
        overRest.filter((name) => name !== 'resourceType' && name !== 'id').sort(),
      );
    }
  });

  describe('as a property', () => {
    const kinds = fc.constantFrom<Kind>('Client', 'AccessPolicy', 'Box', 'Group');

    it('never throws, whatever JSON it is given', () => {
      fc.assert(
        fc.property(kinds, fc.jsonValue(), (kind, value) => {
          expect(checkResource(kind, value).ok).to.be.a('boolean');
        }),
      );
    });

    it('never throws when one field of a good object becomes anything', () => {
      const good = table.filter((row) => row.verdict === 'accepted' && isResourceToo(row)).map(resourceOf);
      fc.assert(
        fc.property(kinds, fc.constantFrom(...good), fc.nat(), fc.jsonValue(), (kind, object, index, value) => {
          const names = Object.keys(object);
          const name = names[index % names.length] ?? 'id';
          expect(checkResource(kind, { ...object, [name]: value }).ok).to.be.a('boolean');
        }),
      );
    });

    it('accepts what it returned, and returns it again', () => {
      for (const row of table.filter((one) => one.verdict === 'accepted' && isResourceToo(one))) {
        const first = checkResource(row.kind, resourceOf(row));
        if (!first.ok) throw new Error(row.title);
        expect(checkResource(row.kind, first.resource), row.title).to.deep.equal(first);
      }
    });
  });
});
