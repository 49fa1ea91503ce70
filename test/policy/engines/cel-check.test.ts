import { expect } from 'chai';
import { compiled, sampleRequest } from '../policies.ts';

describe('check of a CEL expression', () => {
  const faults: [expression: unknown, fault: RegExp][] = [
    [undefined, /^expression: must be given: one boolean expression$/],
    [5, /^expression: must be given/],
    [['true'], /^expression: must be given/],
    ['', /^expression: must be given/],
    ['  ', /^expression: must be given/],
    ['1 +', /^expression: is not valid in line 1, column 3: found \+$/],
    ['uri ==\n== "a"', /^expression: is not valid in line 1, column 5: found =/],
    ['true false', /^expression: is not valid in line 1, column 6: found f/],
    ['uri = "a"', /^expression: is not valid in line 1, column 5: found /],
    ['user.`group-ids` == []', /^expression: is not valid in line 1, column 5: found /],
    ['true && (', /^expression: is not valid in line 1, column 6: found /],
    [
      'user.groups.exists(1, true)',
      /^expression: is not valid in line 1, column 12: must be written otherwise: exists takes a name and what is said of it, such as list\.exists\(x, x > 1\)$/,
    ],
    [
      'user.groups.all(g)',
      /^expression: is not valid in line 1, column 12: must be written otherwise: all takes a name/,
    ],
    [
      'has(user)',
      /^expression: is not valid in line 1, column 1: must be written otherwise: has takes one field, such as has\(user\.id\)$/,
    ],
    // Names.
    [
      'url == "/x"',
      /^expression: is not valid in line 1, column 1: has the unknown variable "url"; known are request_method, uri, params, /,
    ],
    ['request-method == "get"', /^expression: is not valid in line 1, column 1: has the unknown variable "request"/],
    ['request.uri == "/"', /^expression: is not valid in line 1, column 1: has the unknown variable "request"/],
    ['x', /^expression: is not valid in line 1, column 1: has the unknown variable "x"/],
    ['user.groups.exists(g, h)', /^expression: is not valid in line 1, column 23: has the unknown variable "h"/],
    [
      'user.groups.exists(g, true) && g',
      /^expression: is not valid in line 1, column 32: has the unknown variable "g"/,
    ],
    ['constructor == 1', /^expression: is not valid in line 1, column 1: has the unknown variable "constructor"/],
    ['__proto__ == 1', /^expression: is not valid in line 1, column 1: has the unknown variable "__proto__"/],
    ['toString', /^expression: is not valid in line 1, column 1: has the unknown variable "toString"/],
    // E-19
    [
      'client.naem != "x"',
      /^expression: is not valid in line 1, column 7: reads the field "naem", which is not a field of client; .* `name`\?$/,
    ],
    ['!has(user.mail)', /^expression: is not .* "mail", which is not a field of user; .* Did you mean `email`\?$/],
    ['user.group_ids == []', /^expression: is not .* Did you mean `group-ids`\?$/],
    ['session["stat"] == null', /^expression: is not valid in line 1, column 8: reads the field "stat", which is not/],
    ['resource.type == "User"', /which is not a field of resource; its fields are resourceType, id$/],
    ['[1].exists(x, token.sud == x)', /^expression: is not .* "sud", which is not a field of token; .* `sub`\?$/],
    ['now() > 1', /^expression: is not valid in line 1, column 1: calls the unknown function "now"$/],
    ['uri.foo()', /^expression: is not valid in line 1, column 4: calls the unknown function "foo"$/],
    [
      'uri.replace("a", "b") == uri',
      /^expression: is not valid in line 1, column 4: calls the unknown function "replace"$/,
    ],
    [
      '"%s".format([uri]) == uri',
      /^expression: is not valid in line 1, column 5: calls the unknown function "format"$/,
    ],
    ['cel.bind(x, 1, true)', /^expression: is not valid in line 1, column 1: has the unknown variable "cel"/],
    [
      'google.protobuf.Timestamp{seconds: 1} == 1',
      /^expression: is not valid in line 1, column 1: has the unknown type "google.protobuf.Timestamp"$/,
    ],
    // Types.
    ['uri', /^expression: is not valid in line 1, column 1: must be a boolean expression; this one is of type string$/],
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
    [
      'uri == 5',
      /^expression: is not valid in line 1, column 5: compares types string and int, which are never equal$/,
    ],
    [
      'uri != null',
      /^expression: is not valid in line 1, column 5: compares types string and null, which are never equal$/,
    ],
    ['1 + "a" == 2', /^expression: is not valid in line 1, column 3: uses \+, which does not take \(int, string\)$/],
    ['uri + 1 == "a"', /^expression: is not valid in line 1, column 5: uses \+, which does not take \(string, int\)$/],
    ['uri < 5', /^expression: is not valid in line 1, column 5: uses <, which does not take \(string, int\)$/],
    ['uri && true', /^expression: is not valid in line 1, column 1: has type string where true or false must stand$/],
    ['true || 1', /^expression: is not valid in line 1, column 9: has type int where true or false must stand$/],
    ['!uri', /^expression: is not valid in line 1, column 1: uses !, which does not take \(string\)$/],
    ['-uri == uri', /^expression: is not valid in line 1, column 1: uses -, which does not take \(string\)$/],
    ['1 ? true : false', /^expression: is not valid in line 1, column 1: has type int where true or false must stand$/],
    [
      'uri.startsWith(1)',
      /^expression: is not valid in line 1, column 4: uses startsWith, which does not take \(int\) of type string$/,
    ],
    [
      'startsWith(uri, "a")',
      /^expression: is not valid in line 1, column 1: uses startsWith, which does not take \(string, string\)$/,
    ],
    [
      'uri.size(1) == 1',
      /^expression: is not valid in line 1, column 4: uses size, which does not take \(int\) of type string$/,
    ],
    ['size() == 1', /^expression: is not valid in line 1, column 1: uses size, which does not take \(\)$/],
    [
      'uri.id == 1',
      /^expression: is not valid in line 1, column 4: reads the field "id" of type string, which has none$/,
    ],
    [
      'has(uri.id)',
      /^expression: is not valid in line 1, column 1: reads the field "id" of type string, which has none$/,
    ],
    [
      'uri[0] == "a"',
      /^expression: is not valid in line 1, column 4: reads an element by type int of type string, which has none$/,
    ],
    [
      '[1]["a"] == 1',
      /^expression: is not valid in line 1, column 4: reads an element by type string of type list, which has none$/,
    ],
    ['uri.exists(x, true)', /^expression: is not valid in line 1, column 4: cannot walk through type string$/],
    [
      '[1].exists(x, 5)',
      /^expression: is not valid in line 1, column 15: has type int where true or false must stand$/,
    ],
    ['5 in 5', /^expression: is not valid in line 1, column 3: uses in, which does not take \(int, int\)$/],
    [
      '99999999999999999999 == 1',
      /^expression: is not valid in line 1, column 1: has the number 99999999999999999999, which does not fit into 64 bits$/,
    ],
    [
      '99999999999999999999u == 1u',
      /^expression: is not valid in line 1, column 1: has the number 99999999999999999999, which does not fit into 64 bits$/,
    ],
    // Regular expressions.
    [
      'uri.matches("(")',
      /^expression: is not valid in line 1, column 13: has the pattern "\(", which is not a regular expression of RE2/,
    ],
    [
      'uri.matches("a(?=b)")',
      /^expression: is not valid in line 1, column 13: has the pattern "a\(\?=b\)", which is not a regular expression of RE2/,
    ],
    [
      'uri.matches(params.pattern)',
      /^expression: is not valid in line 1, column 19: must give matches one pattern, in quotes$/,
    ],
    [
      'uri.matches("a" + "b")',
      /^expression: is not valid in line 1, column 17: must give matches one pattern, in quotes$/,
    ],
    ['uri.matches()', /^expression: must give matches one pattern, in quotes$/],
    // Size.
    [`${'('.repeat(1500)}true${')'.repeat(1500)}`, /^expression: nests too deeply$/],
    [`${'['.repeat(1500)}${']'.repeat(1500)} == []`, /^expression: nests too deeply$/],
    //
    [`${'('.repeat(4000)}true${')'.repeat(4000)}`, /^expression: takes too long to compile/],
    [`${'['.repeat(4000)}${']'.repeat(4000)} == []`, /^expression: takes too long to compile/],
    [`user${'.y'.repeat(4000)}`, /^expression: takes too long to compile/],
    [`1${'+1'.repeat(3500)} > 0`, /^expression: takes too long to compile/],
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
      'user.data.naem == client.details.naem',
      'client[uri] == user["data"]["naem"]',
      'user.groups.exists(client, client.naem == 1)',
      'body in body',
      'params.a < params.b',
    ]) {
      expect(compiled({ engine: 'cel', expression }).fault, expression).to.equal(undefined);
    }
  });
});
