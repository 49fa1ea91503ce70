import { expect } from 'chai';
import { declaredResource, validate } from '../../../operator/desired/validate.ts';
import { allowPolicy, declared, machineClient } from '../declare.ts';

describe('validate', () => {
  it('gives a Client the name of its object as id, or the id that it declares', () => {
    expect(validate(machineClient('app')).id).to.equal('app');
    expect(validate(machineClient('app', { id: 'App.1' })).id).to.equal('App.1');
  });

  it('gives a Box the name of its namespace as id', () => {
    expect(validate(declared('Box', 'box', {}, { namespace: 'shop' })).id).to.equal('shop');
  });

  const same: [title: string, spec: Record<string, unknown>][] = [
    ['its secret', { secret: 'chosen' }],
    ['where its secret is', { secretRef: { name: 'a', key: 'b' } }],
    ['how the operator treats it', { adoption: 'Never', deletionPolicy: 'Delete', suspend: true }],
    ['the rotation of its secret', { generateSecret: {}, rotation: { every: '720h' } }],
  ];
  for (const [title, spec] of same) {
    it(`finds the same content whatever a Client says about ${title}`, () => {
      expect(validate(machineClient('app', spec)).content).to.equal(validate(machineClient('app')).content);
    });
  }

  it('finds another content when a field of the resource changes', () => {
    expect(validate(machineClient('app', { active: false })).content).to.not.equal(
      validate(machineClient('app')).content,
    );
  });

  it('finds another content when the row is to be retained, or adopted: else nobody would tell the API', () => {
    const specs = [{}, { deletionPolicy: 'Retain' }, { adoption: 'IfUnowned' }];
    expect(new Set(specs.map((spec) => validate(machineClient('app', spec)).content)).size).to.equal(3);
  });

  const lifecycles: [spec: Record<string, unknown>, adopt: string | undefined, retain: boolean][] = [
    [{}, undefined, false],
    [{ adoption: 'Never', deletionPolicy: 'Delete' }, undefined, false],
    [{ adoption: 'IfUnowned' }, 'unowned', false],
    [{ adoption: 'Force' }, 'force', false],
    [{ deletionPolicy: 'Retain' }, undefined, true],
  ];
  for (const [spec, adopt, retain] of lifecycles) {
    it(`knows what ${JSON.stringify(spec)} says of a row that is there before and after the object`, () => {
      expect(validate(machineClient('app', spec))).to.include({ adopt, retain });
    });
  }

  it('leaves the data of a box where they are, unless its Box says that they go with it', () => {
    const stays = { adopt: 'unowned', retain: false, purge: false };
    for (const spec of [{}, { deletionPolicy: 'Retain' }])
      expect(validate(declared('Box', 'box', spec))).to.include(stays);
    expect(validate(declared('Box', 'box', { deletionPolicy: 'Delete' }))).to.include({ ...stays, purge: true });
    expect(validate(machineClient('app', { deletionPolicy: 'Delete' }))).to.include({ ...stays, adopt: undefined });
  });

  it('R-55: ignores fields that only newer definitions know, also when the resource is sent, and no others', () => {
    const newer = new Set(['next_year']);
    const object = machineClient('app', { next_year: 'x' });
    const validated = validate(object, newer);
    expect(validated).to.deep.include({
      faults: [],
      newer: ['next_year'],
      content: validate(machineClient('app')).content,
    });
    expect(declaredResource(object, validated)).to.not.have.property('next_year');
    expect(validate(object).faults.map(({ path }) => path)).to.deep.equal(['spec.next_year']);
    const misspelt = validate(machineClient('app', { next_year: 'x', next_yaer: 'x' }), newer);
    expect(misspelt.faults.map(({ path }) => path)).to.deep.equal(['spec.next_yaer']);
    expect(validate(machineClient('app'), newer).newer).to.deep.equal([]);
  });

  it('R-55: links a policy with such a field to nobody', () => {
    const spec = { engine: 'allow', subjects: 'anyone', only_on: 'weekdays' };
    const object = declared('AccessPolicy', 'p', spec);
    const validated = validate(object, new Set(['only_on']));
    expect(declaredResource(object, validated)).to.deep.include({ subjects: 'linked', link: [] });
    const linked = declared('AccessPolicy', 'p', { engine: 'allow', link: [{ reference: 'Client/app', until: 'x' }] });
    expect(declaredResource(linked, validate(linked, new Set(['link[].until'])))).to.deep.include({ link: [] });
  });

  it('finds the same content in both forms of a link', () => {
    const reference = declared('AccessPolicy', 'p', { engine: 'allow', link: [{ reference: 'Client/app' }] });
    expect(validate(reference).content).to.equal(validate(allowPolicy('p', 'app')).content);
  });

  it('lists every fault of an object with its field, and guesses its id', () => {
    const { faults, id } = validate(declared('Client', 'app', { id: 'mine', grant_types: 'x', active: 'yes' }));
    expect(faults.map(({ path }) => path)).to.include.members(['spec.grant_types', 'spec.active']);
    expect(id).to.equal('mine');
  });

  for (const body of [null, 1, 'text', [], {}, { spec: null }, { spec: [] }]) {
    it(`finds faults in ${JSON.stringify(body)} and does not throw`, () => {
      expect(validate(declared('Client', 'app', {}, { body: () => body })).faults).to.not.be.empty;
    });
  }

  it('F-31 an object that makes our own code throw is faulty, and says so', () => {
    const poison = {
      ...machineClient('app'),
      body: () => {
        throw new RangeError('Maximum call stack size exceeded');
      },
    };
    expect(validate(poison).faults).to.deep.equal([
      { path: '', message: 'cannot be validated by this version (RangeError)' },
    ]);
    expect(validate(poison).id).to.equal('app');
  });

  const code = { redirect_uri: 'https://app.example/' };
  const refreshes: readonly [grants: readonly string[], auth: object, isIdle: boolean][] = [
    [['client_credentials'], {}, false],
    [['client_credentials', 'refresh_token'], {}, true],
    [['client_credentials', 'refresh_token'], { client_credentials: { refresh_token: false } }, true],
    [['client_credentials', 'refresh_token'], { client_credentials: { refresh_token: true } }, false],
    [['client_credentials'], { client_credentials: { refresh_token: true } }, false],
    [['authorization_code', 'refresh_token'], { authorization_code: { ...code, refresh_token: true } }, false],
    [['authorization_code', 'refresh_token'], { authorization_code: code }, true],
    [['client_credentials', 'refresh_token'], { authorization_code: { ...code, refresh_token: true } }, true],
    [['password', 'refresh_token'], {}, true],
    [['refresh_token'], {}, true],
  ];
  for (const [grant_types, auth, isIdle] of refreshes) {
    it(`${isIdle ? 'finds' : 'does not find'} an idle refresh_token in ${JSON.stringify([grant_types, auth])}`, () => {
      const { faults, traits } = validate(declared('Client', 'app', { grant_types, auth }));
      expect(faults).to.deep.equal([]);
      expect(traits).to.include({ listsIdleRefresh: isIdle });
    });
  }

  it('knows a suspended object, also a faulty one', () => {
    expect(validate(machineClient('app', { suspend: true })).suspended).to.equal(true);
    expect(validate(declared('Client', 'app', { suspend: true })).suspended).to.equal(true);
  });
});

describe('declaredResource', () => {
  it('is the spec without what only means something to the operator', () => {
    const spec = {
      name: 'App',
      secret: 'chosen',
      rotation: undefined,
      adoption: 'Force',
      deletionPolicy: 'Retain',
      suspend: false,
    };
    expect(declaredResource(machineClient('app', spec))).to.deep.equal({
      resourceType: 'Client',
      id: 'app',
      name: 'App',
      grant_types: ['client_credentials'],
    });
  });

  it('has links in their stored form', () => {
    const policy = declared('AccessPolicy', 'p', { engine: 'allow', link: [{ reference: 'Group/admins' }] });
    expect(declaredResource(policy)).to.deep.equal({
      resourceType: 'AccessPolicy',
      id: 'p',
      engine: 'allow',
      link: [{ resourceType: 'Group', id: 'admins' }],
    });
  });

  it('leaves the first person of a Box to the operator', () => {
    const admin = { email: 'a@example.com', passwordSecretRef: { name: 'admin', key: 'password' } };
    const box = declared('Box', 'box', { bootstrap_admin: admin, active: true }, { namespace: 'shop' });
    expect(declaredResource(box)).to.deep.equal({ resourceType: 'Box', id: 'shop', active: true });
  });
});
