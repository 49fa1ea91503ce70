import { expect } from 'chai';
import fc from 'fast-check';
import { compiled, sampleRequest } from '../policies.ts';

const person = {
  user: {
    id: 7,
    email: 'a@example.com',
    groups: [{ id: 1, name: 'staff' }],
    'group-ids': [1],
    data: { level: 2.5, note: null },
  },
  body: { list: [1, 2, 3], flag: true, text: 'abc', empty: [], __proto__x: 1 },
  params: { page: '2', tag: ['a', 'b'] },
};

function evaluate(expression: string, parts = {}) {
  const policy = compiled({ engine: 'cel', expression });
  expect(policy.fault).to.equal(undefined);
  return policy.evaluate(sampleRequest({ ...person, ...parts }));
}

describe('engine cel', () => {
  const yes = [
    'true',
    'uri == "/Client/reports"',
    "uri == '/Client/reports'",
    'request_method == "get"',
    'request_method in ["get", "head"]',
    'remote_addr.startsWith("192.0.2.")',
    'box == "shop"',
    'client.id == "reports"',
    'client["id"] == "reports"',
    'resource.resourceType == "Client" && resource.id == client.id',
    'headers["user-agent"].contains("curl")',
    'params.page == "2"',
    'int(params.page) > 1',
    '"page" in params',
    '!("nope" in params)',
    'params["tag"][1] == "b"',
    'token.exp - token.iat == 3600',
    'token.exp > token.iat',
    'session.scope.split(" ").exists(s, s == "read")',
    'client.grant_types.all(g, g == "client_credentials")',
    'user.groups.exists(g, g.name == "staff")',
    'user.groups.exists_one(g, g.id == 1)',
    '1 in user["group-ids"]',
    'user["group-ids"].filter(g, g == 1).size() == 1',
    'user.groups.map(g, g.name) == ["staff"]',
    'user.id == 7 && user.id == 7.0 && user.id + 1 == 8',
    'user.data.level == 2.5 && user.data.level > 2',
    'user.data.note == null',
    '!has(user.data.note)',
    'has(user.email)',
    '!has(user.data.nope)',
    'body.flag',
    'body.list[0] + body.list[2] == 4',
    'size(body.list) == 3 && body.list.size() == 3',
    'size(body.empty) == 0 && body.empty == []',
    'body == {"list": [1, 2, 3], "flag": true, "text": "abc", "empty": [], "__proto__x": 1}',
    'body.text.matches("^[a-c]+$")',
    'uri.matches(r"^/Client/\\w+$")',
    'body.text.upperAscii() == "ABC" && body.text.charAt(1) == "b" && body.text.substring(1) == "bc"',
    '["a", "b"].join("-") == "a-b" && " a ".trim() == "a" && "abc".indexOf("c") == 2 && "aba".lastIndexOf("a") == 2',
    'timestamp("2026-11-21T09:54:20Z") > timestamp("2026-01-01T00:00:00Z")',
    'timestamp("2026-11-21T09:54:20Z").getHours() == 9',
    'duration("90s") == duration("1m30s")',
    'type(user.id) == int && type(uri) == string',
    'user == null ? false : user.id > 0',
    'dyn(1) == 1u',
    '{"a": {"b": [true]}}.a.b[0]',
    'b"ab" == bytes("ab")',
    '[1, 2] + [3] == body.list',
    // CEL's logic: an error is passed over where the other side decides.
    'user.data.nope == 1 || true',
    'true || user.data.nope == 1',
    '!(user.data.nope == 1 && false)',
    '[1, 0].exists(x, 1 / x == 1)',
    'string(5) + "a" == "5a"',
    'session.type.endsWith("credentials") // a comment',
  ];
  for (const expression of yes) {
    it(`${expression} grants`, () => {
      expect(evaluate(expression)).to.deep.equal({ granted: true });
    });
  }

  const no = [
    'false',
    'uri == "/client/reports"',
    'user.id == 8',
    'params.page == 2',
    'client.id in ["a", "b"]',
    'user.groups.exists(g, g.name == "admins")',
    'body.list.all(x, x < 3)',
    'uri.matches("^x")',
    '!(user.id == 7)',
  ];
  for (const expression of no) {
    it(`${expression} does not grant`, () => {
      expect(evaluate(expression)).to.deep.equal({ granted: false });
    });
  }

  const fails: [expression: string, reason: RegExp][] = [
    ['user.data.nope == 1', /nope/],
    ['!(user.data.nope == 1)', /nope/],
    ['user.data.nope != 1', /nope/],
    ['user.id', /did not come to true or false/],
    ['user', /did not come to true or false/],
    ['user.email', /did not come to true or false/],
    ['user.data.nope || false', /nope/],
    ['user.email || false', /bool/],
    ['user.id.nope == 1', /nope/],
    ['user.id + "a" == "7a"', /no matching overload/],
    ['user.id / 0 == 1', /divide by zero/],
    ['9223372036854775807 + user.id > 0', /overflow/],
    ['body.list[3] == 1', /out of bounds/],
    ['body.list["a"] == 1', /./],
    ['int(user.email) == 1', /./],
    ['timestamp(user.email) < timestamp("2026-01-01T00:00:00Z")', /timestamp/],
    ['user.data.constructor == 1', /constructor/],
    ['user.data.toString == 1', /toString/],
    ['user.data.__proto__ == {}', /__proto__/],
    ['body.flag == true && user.groups.exists(g, g.nope)', /nope/],
  ];
  for (const [expression, reason] of fails) {
    it(`${expression} fails and does not grant`, () => {
      const { granted, fault } = evaluate(expression);
      expect(granted).to.be.false;
      expect(fault).to.match(reason);
    });
  }

  const absent: [expression: string, granted: boolean][] = [
    ['user == null', true],
    ['client == null && session == null && token == null && resource == null && body == null', true],
    ['has(user.id)', false],
    ['user.id == 7', false],
    ['user.id != 7', false],
    ['!has(user.id)', true],
    ['user != null && user.id == 7', false],
  ];
  for (const [expression, granted] of absent) {
    it(`${expression} ${granted ? 'grants' : 'does not grant'} where there is neither token nor body`, () => {
      const parts = {
        user: undefined,
        client: undefined,
        session: undefined,
        token: undefined,
        resource: undefined,
        body: undefined,
      };
      expect(evaluate(expression, parts).granted).to.equal(granted);
    });
  }

  it('reads own members only, whatever they are called', () => {
    const body: unknown = JSON.parse(
      '{"constructor": 1, "__proto__": {"admin": true}, "toString": 2, "nested": {"constructor": {"name": "Map"}}}',
    );
    expect(evaluate('body.constructor == 1 && body.toString == 2', { body }).granted).to.be.true;
    expect(evaluate('body.nested.constructor.name == "Map"', { body }).granted).to.be.true;
    expect(evaluate('has(body.admin) || "admin" in body', { body }).granted).to.be.false;
    expect(evaluate('body.map(k, k).size() == 4', { body }).granted).to.be.true;
    const bare: unknown = Object.assign(Object.create(null) satisfies object, { a: 1 });
    expect(evaluate('body.a == 1', { body: bare }).granted).to.be.true;
  });

  it('never throws, whatever the expression and the request', () => {
    const word = fc.constantFrom(
      'uri',
      'user',
      '.id',
      '==',
      '&&',
      '||',
      '!',
      '(',
      ')',
      '[',
      ']',
      '"a"',
      '1',
      '.exists(x, x)',
      'x',
      '{',
      '}',
      ',',
      '?',
      ':',
      '.',
      'in',
      'null',
      '.matches("a")',
      '-',
      'size',
    );
    const expression = fc.oneof(
      fc.string(),
      fc.array(word, { maxLength: 12 }).map((words) => words.join(' ')),
      fc.anything(),
    );
    fc.assert(
      fc.property(expression, fc.anything(), (source, body) => {
        expect(compiled({ engine: 'cel', expression: source }).allows(sampleRequest({ body }))).to.be.a('boolean');
      }),
      { numRuns: 500 },
    );
  });

  it('an expression and its opposite never both grant, and one of them does unless it fails', () => {
    fc.assert(
      fc.property(boolean, (expression) => {
        const [plain, opposite] = [evaluate(expression), evaluate(`!(${expression})`)];
        expect(plain.granted && opposite.granted).to.be.false;
        expect(plain.granted || opposite.granted || plain.fault !== undefined).to.be.true;
      }),
    );
  });

  it('"and" and "or" are what they are elsewhere, in either order', () => {
    fc.assert(
      fc.property(boolean, boolean, (one, other) => {
        const [left, right] = [evaluate(one).granted, evaluate(other).granted];
        expect(evaluate(`(${one}) && (${other})`).granted).to.equal(left && right);
        expect(evaluate(`(${one}) || (${other})`).granted).to.equal(left || right);
        expect(evaluate(`(${other}) || (${one})`).granted).to.equal(left || right);
      }),
    );
  });

  it('does not keep the steps or the stack limit of an evaluation that failed', () => {
    const before = Error.stackTraceLimit;
    evaluate('user.data.nope == 1');
    expect(Error.stackTraceLimit).to.equal(before);
    expect(evaluate('user.id == 7').granted).to.be.true;
  });
});

/** Boolean expressions: some true, some false, some that fail. */
const boolean = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(
      'true',
      'false',
      'user.id == 7',
      'user.data.nope == 1',
      'body.flag',
      'uri.matches("Client")',
      'has(user.data.nope)',
      '1 / 0 == 1',
      'body.list.exists(x, x == 2)',
    ),
    fc.tuple(tie('expression'), tie('expression')).map(([one, other]) => `(${one}) && (${other})`),
    fc.tuple(tie('expression'), tie('expression')).map(([one, other]) => `(${one}) || (${other})`),
    tie('expression').map((inner) => `!(${inner})`),
    fc.tuple(tie('expression'), tie('expression')).map(([one, other]) => `(${one}) ? (${other}) : (${one})`),
    tie('expression').map((inner) => `body.list.all(x, ${inner})`),
  ),
})).expression;
