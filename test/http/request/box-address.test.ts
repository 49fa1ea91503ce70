import { expect } from 'chai';
import { addressByPath, addressOf, hostName, isBoxName, serviceBox } from '../../../api/http/request/box-address.ts';
import type { BoxAddressing } from '../../../api/http/request/box-address.ts';

describe('the box of a path', () => {
  const rows: Readonly<Record<string, readonly [box: string, url: string] | undefined>> = {
    '/boxes/shop/Client/x?a=b': ['shop', '/Client/x?a=b'],
    '/boxes/shop/': ['shop', '/'],
    '/boxes/shop': ['shop', '/'],
    '/boxes/shop?a=b': ['shop', '/?a=b'],
    '/boxes/a-1/x': ['a-1', '/x'],
    '/boxes/0/x': ['0', '/x'],
    [`/boxes/${'a'.repeat(63)}/x`]: ['a'.repeat(63), '/x'],
    [`/boxes/${'a'.repeat(64)}/x`]: undefined,
    '/boxes/Shop/x': undefined,
    '/boxes/-shop/x': undefined,
    '/boxes/shop-/x': undefined,
    '/boxes/sh_op/x': undefined,
    '/boxes/sh%6fp/x': undefined,
    '/boxes//x': undefined,
    '/boxes/': undefined,
    '/boxes': undefined,
    '//boxes/shop/x': undefined,
    '/boxes/../shop/x': undefined,
    '/x/boxes/shop/x': undefined,
    '/.well-known/oauth-authorization-server/boxes/shop': ['shop', '/.well-known/oauth-authorization-server'],
    '/.well-known/openid-configuration/boxes/shop?x': ['shop', '/.well-known/openid-configuration?x'],
    '/boxes/shop/.well-known/openid-configuration': ['shop', '/.well-known/openid-configuration'],
    '/.well-known/jwks.json/boxes/shop': undefined,
    '/.well-known/oauth-authorization-server/boxes/shop/': undefined,
    '/.well-known/oauth-authorization-server/boxes/shop/x': undefined,
    '/.well-known/oauth-authorization-server/shop': undefined,
    '/.well-known/oauth-authorization-server': undefined,
  };
  for (const [path, expected] of Object.entries(rows)) {
    it(`${path.slice(0, 70)}: ${expected?.join(' ') ?? 'none'}`, () => {
      const [box, url] = expected ?? [];
      expect(addressByPath(path)).to.deep.equal(expected === undefined ? undefined : { box, url });
    });
  }
});

describe('the box of a Service', () => {
  const rows: Readonly<Record<string, string | undefined>> = {
    'boxgate.shop.svc': 'shop',
    'boxgate.shop.svc.cluster.local': 'shop',
    'boxgate.shop.svc.other.local': undefined,
    'boxgate.shop': undefined,
    'boxgate.svc': undefined,
    'boxgate..svc': undefined,
    'boxgate.a.b.svc': undefined,
    'boxgate.SHOP.svc': undefined,
    'xboxgate.shop.svc': undefined,
    'boxgate-api.shop.svc': undefined,
    'boxgate.shop.svc.cluster.local.evil.example': undefined,
    'boxgate.-.svc': undefined,
    [`boxgate.${'a'.repeat(64)}.svc`]: undefined,
  };
  for (const [host, box] of Object.entries(rows)) {
    it(`${host.slice(0, 50)}: ${box ?? 'none'}`, () => {
      expect(serviceBox(host, 'cluster.local')).to.equal(box);
    });
  }
});

describe('the name in a Host header', () => {
  const rows: Readonly<Record<string, string | undefined>> = {
    'Shop.Example': 'shop.example',
    'shop.example:8443': 'shop.example',
    'shop.example.': 'shop.example',
    'shop.example.:80': 'shop.example',
    '127.0.0.1:80': '127.0.0.1',
    '[::1]:8080': '[::1]',
    '[2001:DB8::1]': '[2001:db8::1]',
    a: 'a',
    _dmarc: '_dmarc',
    '': undefined,
    ':80': undefined,
    'a:': undefined,
    'a:123456': undefined,
    '.': undefined,
    'a..': undefined,
    '-a': undefined,
    'a b': undefined,
    'a,b': undefined,
    'a/b': undefined,
    '::1': undefined,
    '[::1': undefined,
    [`${'a'.repeat(260)}.example`]: undefined,
  };
  for (const [header, name] of Object.entries(rows)) {
    it(`${JSON.stringify(header.slice(0, 40))}: ${name ?? 'none'}`, () => {
      expect(hostName(header)).to.equal(name);
    });
  }

  it('is none without a header', () => {
    expect(hostName(undefined)).to.equal(undefined);
  });
});

describe('the box of a request', () => {
  /** Hosts that were looked up in the database. */
  let asked: string[] = [];
  let root: string | undefined;
  const addressing: BoxAddressing = {
    clusterDomain: 'cluster.local',
    isForeignHost: (host) => host !== 'auth.example',
    boxOfHost: (host) => {
      asked.push(host);
      if (host === 'id.example') return Promise.resolve({ box: 'shop', path: '/login/eu' });
      return Promise.resolve(host === 'shop.example' ? { box: 'shop', path: '' } : undefined);
    },
    rootBoxes: () => Promise.resolve(root === undefined ? [] : [root]),
  };

  beforeEach(() => {
    asked = [];
    root = undefined;
  });

  it('is that of its host, whatever the path says', async () => {
    expect(await addressOf('shop.example', '/boxes/other/Client', addressing)).to.deep.equal({
      box: 'shop',
      url: '/boxes/other/Client',
    });
    expect(await addressOf('boxgate.shop.svc', '/boxes/other/Client', addressing)).to.deep.equal({
      box: 'shop',
      url: '/boxes/other/Client',
    });
  });

  const document = '/.well-known/oauth-authorization-server';
  const belowIssuer: Readonly<Record<string, string>> = {
    '/login/eu/auth/token': '/auth/token',
    '/login/eu/Client?_count=1': '/Client?_count=1',
    [`/login/eu${document}`]: document,
    '/login/eu': '/',
    '/login/eu?a=b': '/?a=b',
    [`${document}/login/eu`]: document,
    [`${document}/login/eu?a=b`]: `${document}?a=b`,
    '/.well-known/openid-configuration/login/eu': '/.well-known/openid-configuration',
    '/.well-known/jwks.json/login/eu': '/.well-known/jwks.json/login/eu',
    [`${document}/login`]: `${document}/login`,
    [`${document}/login/eu/x`]: `${document}/login/eu/x`,
    '/login/europe/auth/token': '/login/europe/auth/token',
    '/auth/token': '/auth/token',
  };
  for (const [target, url] of Object.entries(belowIssuer)) {
    it(`RFC 8414 section 3.1 on the host of an issuer with a path takes ${target} as ${url}`, async () => {
      expect(await addressOf('id.example', target, addressing)).to.deep.equal({ box: 'shop', url });
    });
  }

  it('is that of its path where the host is nobody’s', async () => {
    for (const host of ['auth.example', 'stranger.example', 'boxgate-api.system.svc']) {
      expect(await addressOf(host, '/boxes/other/Client', addressing)).to.deep.equal({ box: 'other', url: '/Client' });
    }
  });

  it('is the only one there is, at the root', async () => {
    expect(await addressOf('auth.example', '/Client', addressing)).to.equal(undefined);
    root = 'shop';
    expect(await addressOf('auth.example', '/Client', addressing)).to.deep.equal({ box: 'shop', url: '/Client' });
    expect(await addressOf('auth.example', '/boxes/other/Client', addressing)).to.include({ box: 'other' });
  });

  it('is not asked of the database for the names of Services nor for the own one', async () => {
    for (const host of ['auth.example', 'boxgate.shop.svc', 'x.svc', 'boxgate-api.system.svc.cluster.local']) {
      await addressOf(host, '/boxes/shop/x', addressing);
    }
    expect(asked).to.deep.equal([]);
  });
});

describe('the name of a box', () => {
  for (const [name, good] of Object.entries({
    shop: true,
    'a-b': true,
    '': false,
    Shop: false,
    'a.b': false,
    'a/b': false,
  })) {
    it(`${JSON.stringify(name)}: ${good ? 'good' : 'bad'}`, () => {
      expect(isBoxName(name)).to.equal(good);
    });
  }
});
