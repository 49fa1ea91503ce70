import { expect } from 'chai';
import { compiled, sampleRequest } from '../policies.ts';

describe('place of a fault in a CEL expression', () => {
  const faults: [expression: string, place: string, fault: RegExp][] = [
    ['url == "/x"', 'line 1, column 1', /unknown variable "url"/],
    ['true\n&& url == "/x"', 'line 2, column 4', /unknown variable "url"/],
    ['true &&\r\n  uri + 1 == "a"', 'line 2, column 7', /uses \+/],
    ['uri // the path\n  + 1 == "a"', 'line 2, column 3', /uses \+/],
    ['user.groups.exists(g,\n  g.name == "staff" &&\n  h)', 'line 3, column 3', /unknown variable "h"/],
    ['[\n  1,\n  uri.foo()\n].size() > 0', 'line 3, column 6', /unknown function "foo"/],
    ['{\n"a": x}.size() > 0', 'line 2, column 6', /unknown variable "x"/],
    ['true ||\n\n  uri', 'line 3, column 3', /has type string where true or false must stand/],
    ['uri ==\n  "a" ?\n  uri : box', 'line 1, column 1', /must be a boolean expression/],
    ['uri\n  .matches(\n    "(")', 'line 3, column 5', /not a regular expression of RE2/],
    ['true &&\n  has(uri.id)', 'line 2, column 3', /reads the field "id"/],
    ['\n\ntrue &&\n  uri ==', 'line 4, column 7', /: found =/],
  ];
  for (const [expression, place, fault] of faults) {
    it(`${JSON.stringify(expression)}: ${place}`, () => {
      const said = compiled({ engine: 'cel', expression }).fault;
      expect(said).to.match(fault);
      expect(said).to.match(new RegExp(`^expression: is not valid in ${place}: `));
    });
  }

  it('follows the path of the rule in a complex policy', () => {
    const rules = [{ engine: 'allow' }, { engine: 'cel', expression: 'true &&\n  url == "/x"' }];
    for (const list of ['and', 'or']) {
      const { fault, fieldFault } = compiled({ engine: 'complex', [list]: rules });
      expect(fault).to.match(
        new RegExp(`^${list}\\[1\\]\\.expression: is not valid in line 2, column 3: has the unknown variable "url"`),
      );
      expect(fieldFault).to.have.property('path', `${list}[1].expression`);
      expect(fieldFault)
        .to.have.property('message')
        .that.matches(/^is not valid in line 2, column 3: has the unknown variable/);
    }
  });

  const failures: [expression: string, fault: string][] = [
    ['request_method == "get" &&\n  user.id == 1', 'line 2, column 7: field not found: id'],
    ['true &&\n  int(params.page) > 1 / 0', 'line 2, column 24: int divide by zero'],
    ['true &&\n  int(uri) == 1', 'line 2, column 3: '],
    ['user.groups == null ||\n  cidr("x").prefixLength() == 1', 'line 1, column 5: field not found: groups'],
    ['true &&\n  cidr(uri).prefixLength() == 1', 'line 2, column 3: the text is not a network in CIDR notation'],
    ['["a"].all(x,\n  x.nope == 1)', 'line 2, column 4: '],
  ];
  for (const [expression, fault] of failures) {
    it(`${JSON.stringify(expression)} fails on a request: ${fault}`, () => {
      const policy = compiled({ engine: 'cel', expression });
      expect(policy.fault).to.equal(undefined);
      const request = sampleRequest({ user: undefined });
      expect(policy.evaluate(request))
        .to.have.property('fault')
        .that.satisfies((said: string) => said.startsWith(fault));
    });
  }

  it('is not told of an address that nobody has told: the request lacks it, wherever it is read', () => {
    const policy = compiled({ engine: 'cel', expression: 'true &&\n  remote_addr == "192.0.2.1"' });
    const { 'remote-addr': _address, ...request } = sampleRequest();
    expect(policy.evaluate(request)).to.deep.equal({
      granted: false,
      fault: 'remote_addr is unknown: no trusted proxy has told it',
    });
  });
});
