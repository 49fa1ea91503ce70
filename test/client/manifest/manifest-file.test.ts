import { expect } from 'chai';
import { resolveSecret } from '../../../operator/secrets/resolve.ts';
import { manifestBody, parseManifests } from '../../../api/client/manifest/manifest-file.ts';

const client = `apiVersion: boxgate.dev/v1
kind: Client
metadata:
  name: app
spec:
  grant_types: [client_credentials]
`;

/** Returns the objects that a file declares, in short: `default/Client/app@1`. */
function found(text: string): string[] {
  const file = parseManifests(text);
  if (!file.ok) throw new Error(`${String(file.fault.line)}: ${file.fault.message}`);
  const objects = file.objects.map(({ namespace, kind, name, line }) => `${namespace}/${kind}/${name}@${String(line)}`);
  return [
    ...objects,
    ...file.secrets.map(({ namespace, name, line }) => `${namespace}/Secret/${name}@${String(line)}`),
  ];
}

function fault(text: string): string {
  const file = parseManifests(text);
  return file.ok ? 'none' : `${String(file.fault.line)}: ${file.fault.message}`;
}

const named = (apiVersion: string, kind: string): string =>
  `${apiVersion === '' ? '' : `apiVersion: ${apiVersion}\n`}kind: ${kind}\nmetadata: {name: x}\nspec: {}\n`;

describe('objects of other API groups with the name of one of our kinds', () => {
  const cases: readonly [apiVersion: string, kind: string, foreign: readonly string[]][] = [
    ['boxgate.io/v1', 'Client', ['Client@1']],
    ['openidclient.keycloak.crossplane.io/v1alpha1', 'Client', ['Client@1']],
    ['boxgate.io/v1', 'Deployment', []],
    ['apps/v1', 'Deployment', []],
    ['v1', 'Group', []],
    ['rbac.authorization.k8s.io/v1', 'Group', []],
    ['boxgate.dev/v1', 'Client', []],
  ];
  for (const [apiVersion, kind, foreign] of cases) {
    it(`${apiVersion} ${kind}: ${foreign.length === 0 ? 'is not told of' : 'is told of'}`, () => {
      const file = parseManifests(named(apiVersion, kind));
      expect(file.ok && file.foreign.map((one) => `${one.kind}@${String(one.line)}`)).to.deep.equal(foreign);
    });
  }

  it('are told of one by one, next to what is read', () => {
    const file = parseManifests(`${client}---\n${named('boxgate.io/v1', 'Box')}---\n${named('a.example/v1', 'Group')}`);
    expect(file.ok && [file.objects.length, file.foreign.map(({ line }) => line)]).to.deep.equal([1, [8, 13]]);
  });
});

const good: [title: string, text: string, found: string[]][] = [
  ['an object without a namespace, in the box default', client, ['default/Client/app@1']],
  ['an object with one', client.replace('name: app', 'name: app\n  namespace: shop'), ['shop/Client/app@1']],
  [
    'several documents',
    `---\n${client}---\n# nothing\n---\n${client.replace('app', 'two')}`,
    ['default/Client/app@2', 'default/Client/two@11'],
  ],
  [
    'JSON',
    JSON.stringify({ apiVersion: 'boxgate.dev/v1', kind: 'Box', metadata: { name: 'box' }, spec: {} }),
    ['default/Box/box@1'],
  ],
  ['a byte order mark', `\ufeff${client}`, ['default/Client/app@1']],
  ['an empty file', '', []],
  ['a file of comments', '# nothing yet\n', []],
  [
    'objects of foreign kinds, which are passed over',
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n',
    [],
  ],
  ['a ConfigMap, which is no Secret', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n', []],
  ['what is no manifest at all', 'replicas: 3\nimage: x\n', []],
  ['a list of tasks of another tool', '- name: x\n', []],
  [
    'a List, as kubectl writes it',
    `apiVersion: v1\nkind: List\nitems:\n- ${client.trim().replaceAll('\n', '\n  ')}\n`,
    ['default/Client/app@1'],
  ],
  [
    'a Secret',
    'apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\nstringData: {a: b}\n',
    ['shop/Secret/s@1'],
  ],
  [
    'an anchor and its alias',
    client.replace('[client_credentials]', '&g [client_credentials]\n  scope: *g'),
    ['default/Client/app@1'],
  ],
  [
    'an object without a spec: it says who it is',
    'apiVersion: boxgate.dev/v1\nkind: Client\nmetadata: {name: app}\n',
    ['default/Client/app@1'],
  ],
];

const bomb = Array.from(
  { length: 9 },
  (_, level) =>
    `l${String(level + 1)}: &l${String(level + 1)} [${Array(9)
      .fill(`*l${String(level)}`)
      .join(', ')}]`,
);

const bad: [title: string, text: string, fault: string | RegExp][] = [
  ['text that is no YAML', `${client}  scope: [a\n`, /^8: /],
  ['a tab', client.replace('  grant', '\tgrant'), /^6: tabs are not allowed/],
  ['a key given twice', `${client}  name: a\n  name: b\n`, '8: map keys must be unique'],
  ['X-07 a key that is no string', `${client}  details: {[a]: 1}\n`, /^7: with stringKeys, all keys must be strings/],
  ['C-05 a tag that makes something else of a value', `${client}  name: !!js/function "x"\n`, /^7: unresolved tag/],
  ['C-05 an alias bomb', ['l0: &l0 x', ...bomb, client].join('\n'), '1: repeats itself too often through aliases'],
  ['C-05 an alias of nothing', client.replace('[client_credentials]', '*nothing'), /alias/],
  [
    'a merge key of what is no mapping',
    `${client}  details: {<<: canary}\n`,
    '1: has a merge key (<<) of what is no mapping: name one by an alias',
  ],
  ['C-05 nesting without end', `${client}  details: ${'['.repeat(100_000)}`, /^\d+: /],
  ['a word', 'apiVer', '1: must be a mapping with apiVersion, kind, metadata and spec'],
  ['another version of ours', client.replace('/v1', '/v2'), '1: apiVersion must be boxgate.dev/v1'],
  [
    'a kind of ours without a version',
    client.replace('apiVersion: boxgate.dev/v1\n', ''),
    '1: apiVersion must be boxgate.dev/v1',
  ],
  [
    'a kind that we do not have',
    client.replace('Client', 'Clinet'),
    '1: kind must be one of Box, Client, AccessPolicy, Group. Did you mean `Client`?',
  ],
  ['no metadata', client.replace('metadata:\n  name: app\n', ''), '1: metadata must be given, with a name'],
  ['no name', client.replace('name: app', 'labels: {}'), /^1: metadata.name must be/],
  ['a name that is a number', client.replace('name: app', 'name: 7'), /^1: metadata.name must be/],
  ['P-03 a name that leads elsewhere', client.replace('name: app', 'name: ../app'), /^1: metadata.name must be/],
  [
    'P-03 a namespace that leads elsewhere',
    client.replace('name: app', 'name: app\n  namespace: a/b'),
    /^1: metadata.namespace must be/,
  ],
  [
    'the second of two documents',
    `${client}---\n${client.replace('name: app', 'name: App')}`,
    /^8: metadata.name must be/,
  ],
  ['a number that JSON has no word for', `${client}  details: {a: .inf}\n`, '1: a must be a finite number'],
  [
    'a Secret whose data is no base64',
    'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: "canary!"}\n',
    '1: data.a must be base64',
  ],
  [
    'a Secret with a number',
    'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: 0123}\n',
    '1: stringData.a must be a string: quote it',
  ],
  ['a List without items', 'apiVersion: v1\nkind: List\n', '1: is a List whose items must be a list'],
];

describe('parseManifests', () => {
  for (const [title, text, expected] of good) {
    it(`reads ${title}`, () => {
      expect(found(text)).to.deep.equal(expected);
    });
  }

  for (const [title, text, expected] of bad) {
    it(`says where and why it cannot read ${title}`, () => {
      const said = fault(text);
      if (typeof expected === 'string') expect(said).to.equal(expected);
      else expect(said).to.match(expected);
      expect(said).to.not.contain('canary');
      expect(said).to.not.contain('\n');
    });
  }

  it('reads both fields of a Secret, stringData over data', () => {
    const text =
      'apiVersion: v1\nkind: Secret\ntype: Opaque\nmetadata: {name: s, labels: {a: "yes"}}\ndata: {a: QQ==, b: "QkM="}\nstringData: {b: c}\n';
    const file = parseManifests(text);
    const [secret] = file.ok ? file.secrets : [];
    expect([...(secret?.entries ?? [])].map(([name, value]) => [name, value.reveal()])).to.deep.equal([
      ['a', 'A'],
      ['b', 'c'],
    ]);
    expect(secret?.labels).to.deep.equal({ a: 'yes' });
  });

  it('R-46 merges what a merge key names, as kubectl does: what stands there itself counts', () => {
    const base = 'tokens: &base { a: 1, b: 2 }';
    const text = `${client}  details: { ${base}, two: { <<: *base, b: 3 }, all: { <<: [*base, { c: 4 }] }, text: { "<<": 5 } }\n`;
    const file = parseManifests(text);
    const [object] = file.ok ? file.objects : [];
    expect(object && manifestBody(object, object.json)).to.have.deep.nested.property('spec.details', {
      tokens: { a: 1, b: 2 },
      two: { a: 1, b: 3 },
      all: { a: 1, b: 2, c: 4 },
      text: { '<<': 5 },
    });
  });

  const secretOf = (data: string): string => `apiVersion: v1
kind: Secret
metadata: { name: tls, labels: { boxgate.dev/client-secret: 'true' } }
data: { entry: ${data} }
`;
  const resolved = (data: string) => {
    const file = parseManifests(secretOf(data));
    if (!file.ok) throw new Error(file.fault.message);
    const secrets = new Map(file.secrets.map((secret) => [secret.name, secret]));
    return resolveSecret({ from: 'reference', name: 'tls', key: 'entry' }, 'x', (name) => secrets.get(name), new Map());
  };

  it('reads a Secret that holds bytes that are no text: a keystore must not keep its whole file from being read', () => {
    expect(resolved('/u3+7QAAAAI=')).to.include({ state: 'missing', reason: 'SecretNotUsable' });
  });

  it('reads a Secret that holds text', () => {
    expect(resolved('a2VlcCBpdCBzYWZl')).to.include({ state: 'ready' });
  });

  for (const broken of ['a2V', 'a2Vl*A==', '12']) {
    it(`refuses data that is not base64, as an API server would: ${broken}`, () => {
      expect(fault(secretOf(broken))).to.equal('1: data.entry must be base64');
    });
  }

  it('gives the same version to the same object, and another one to another', () => {
    const version = (text: string) => {
      const file = parseManifests(text);
      return file.ok ? file.objects[0]?.version : undefined;
    };
    expect(version(client)).to.equal(version(`# moved down\n${client}`));
    expect(version(client)).to.equal(version(client.replace('name: app', 'name: app\n  labels: {a: b}')));
    expect(version(client)).to.not.equal(version(client.replace('[client_credentials]', '[implicit]')));
    expect(version(client)).to.not.equal(version(`${client}status: {}\n`));
  });
});

describe('manifestBody', () => {
  const bodies: [title: string, text: string, body: object][] = [
    [
      'a plain object',
      client,
      { metadata: { namespace: 'default', name: 'app' }, spec: { grant_types: ['client_credentials'] } },
    ],
    ['an object without a spec', client.split('spec:')[0] ?? '', { metadata: { name: 'app' } }],
    [
      'a member that does not belong there, for somebody to complain about',
      `${client}sepc: {}\n`,
      { metadata: { name: 'app' }, spec: { grant_types: ['client_credentials'] }, sepc: {} },
    ],
  ];
  for (const [title, text, body] of bodies) {
    it(`has everything that is checked of ${title}`, () => {
      const file = parseManifests(text);
      const [object] = file.ok ? file.objects : [];
      if (object === undefined) throw new Error('nothing was read');
      expect(manifestBody(object, object.json)).to.deep.equal({
        apiVersion: 'boxgate.dev/v1',
        kind: 'Client',
        ...body,
      });
    });
  }
});
