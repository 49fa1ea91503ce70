import { expect } from 'chai';
import { compiled, sampleRequest } from '../policies.ts';

describe('check of a CEL expression', () => {
  const faults: [expression: unknown, fault: RegExp][] = [
    [undefined, /^expression: must be given: one boolean expression$/],
    [5, /^expression: must be given/],
    [['true'], /^expression: must be given/],
    ['', /^expression: must be given/],
    ['  ', /^expression: must be given/],
    ['1 +', /^expression: line 1, column 3: found \+$/],
    ['uri ==\n== "a"', /^expression: line 1, column 5: found =/],
    ['true false', /^expression: line 1, column 6: found f/],
    ['uri = "a"', /^expression: line 1/],
    ['user.`group-ids` == []', /^expression: line 1/],
    ['true && (', /^expression: line 1/],
    [
      'user.groups.exists(1, true)',
      /^expression: exists takes a name and what is said of it, such as list\.exists\(x, x > 1\)$/,
    ],
    ['user.groups.all(g)', /^expression: all takes a name/],
    ['has(user)', /^expression: has takes one field, such as has\(user\.id\)$/],
    // Names.
    ['url == "/x"', /^expression: unknown variable "url"; known are request_method, uri, params, /],
    ['request-method == "get"', /^expression: unknown variable "request"/],
    ['request.uri == "/"', /^expression: unknown variable "request"/],
    ['x', /^expression: unknown variable "x"/],
    ['user.groups.exists(g, h)', /^expression: unknown variable "h"/],
    ['user.groups.exists(g, true) && g', /^expression: unknown variable "g"/],
    ['constructor == 1', /^expression: unknown variable "constructor"/],
    ['__proto__ == 1', /^expression: unknown variable "__proto__"/],
    ['toString', /^expression: unknown variable "toString"/],
    ['now() > 1', /^expression: unknown function "now"$/],
    ['uri.foo()', /^expression: unknown function "foo"$/],
    ['uri.replace("a", "b") == uri', /^expression: unknown function "replace"$/],
    ['"%s".format([uri]) == uri', /^expression: unknown function "format"$/],
    ['cel.bind(x, 1, true)', /^expression: unknown variable "cel"/],
    ['google.protobuf.Timestamp{seconds: 1} == 1', /^expression: unknown type "google.protobuf.Timestamp"$/],
    // Types.
    ['uri', /^expression: must be a boolean expression; this one is of type string$/],
    ['1', /this one is of type int$/],
    ['1u', /this one is of type uint$/],
    ['1.5', /this one is of type double$/],
    ['null', /this one is of type null$/],
    ['[true]', /this one is of type list$/],
    ['{"a": true}', /this one is of type map$/],
    ['b"a"', /this one is of type bytes$/],
    ['params', /this one is of type map$/],
    ['size(uri)', /this one is of type int$/],
    ['user.groups.map(g, g.name)', /this one is of type list$/],
    ['true ? uri : box', /this one is of type string$/],
    ['timestamp("2026-01-01T00:00:00Z")', /this one is of type timestamp$/],
    ['uri == 5', /^expression: types string and int are never equal$/],
    ['uri != null', /^expression: types string and null are never equal$/],
    ['1 + "a" == 2', /^expression: \+ does not take \(int, string\)$/],
    ['uri + 1 == "a"', /^expression: \+ does not take \(string, int\)$/],
    ['uri < 5', /^expression: < does not take \(string, int\)$/],
    ['uri && true', /^expression: type string stands where true or false must$/],
    ['true || 1', /^expression: type int stands where true or false must$/],
    ['!uri', /^expression: ! does not take \(string\)$/],
    ['-uri == uri', /^expression: - does not take \(string\)$/],
    ['1 ? true : false', /^expression: type int stands where true or false must$/],
    ['uri.startsWith(1)', /^expression: startsWith does not take \(int\) of type string$/],
    ['startsWith(uri, "a")', /^expression: startsWith does not take \(string, string\)$/],
    ['uri.size(1) == 1', /^expression: size does not take \(int\) of type string$/],
    ['size() == 1', /^expression: size does not take \(\)$/],
    ['uri.id == 1', /^expression: type string has no field "id"$/],
    ['has(uri.id)', /^expression: type string has no field "id"$/],
    ['uri[0] == "a"', /^expression: type string has no elements by type int$/],
    ['[1]["a"] == 1', /^expression: type list has no elements by type string$/],
    ['uri.exists(x, true)', /^expression: cannot walk through type string$/],
    ['[1].exists(x, 5)', /^expression: type int stands where true or false must$/],
    ['5 in 5', /^expression: in does not take \(int, int\)$/],
    ['99999999999999999999 == 1', /^expression: 99999999999999999999 does not fit into 64 bits$/],
    ['99999999999999999999u == 1u', /^expression: 99999999999999999999 does not fit into 64 bits$/],
    // Regular expressions.
    ['uri.matches("(")', /^expression: pattern "\(" is not a regular expression of RE2/],
    ['uri.matches("a(?=b)")', /^expression: pattern "a\(\?=b\)" is not a regular expression of RE2/],
    ['uri.matches(params.pattern)', /^expression: matches takes one pattern, in quotes$/],
    ['uri.matches("a" + "b")', /^expression: matches takes one pattern, in quotes$/],
    ['uri.matches()', /^expression: matches takes one pattern, in quotes$/],
    // Size.
    [`uri == "${'a'.repeat(8192)}"`, /^expression: must have at most 8192 characters$/],
    [`${'('.repeat(4000)}true${')'.repeat(4000)}`, /^expression: nests too deeply$/],
    [`${'['.repeat(4000)}${']'.repeat(4000)} == []`, /^expression: nests too deeply$/],
    [`user${'.y'.repeat(4000)}`, /^expression: nests too deeply$/],
  ];
  for (const [expression, fault] of faults) {
    it(`says what is wrong with ${JSON.stringify({ expression }).slice(0, 80)}, and grants nothing`, () => {
      const policy = compiled({ engine: 'cel', expression });
      expect(policy.fault).to.match(fault);
      expect(policy.allows(sampleRequest())).to.be.false;
    });
  }

  it('takes whatever comes from the request for anything', () => {
    for (const expression of [
      'body',
      'user.id',
      'body + 1 == 2',
      'body[body] == body',
      'body.exists(x, x)',
      'body in body',
      'params.a < params.b',
    ]) {
      expect(compiled({ engine: 'cel', expression }).fault, expression).to.equal(undefined);
    }
  });
});
