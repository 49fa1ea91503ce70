import { expect } from 'chai';
import type { ReconcileResult } from '../../../operator/status/reconcile-result.ts';
import { CONDITIONS, NEXT_STEPS, REASONS } from '../../../operator/status/reasons.ts';
import { conditionsOf } from '../../../operator/status/conditions.ts';
import { allowPolicy, machineClient } from '../declare.ts';
import { publishedStatus, resultOf } from '../result-of.ts';
import { client, conditionCases, none, tokenExchange } from './condition-cases.ts';

/** `Ready=True/Ready`, one for each condition. */
function conditions(of: ReconcileResult): string[] {
  return publishedStatus(of).conditions.map(({ type, status: is, reason }) => `${type}=${is}/${reason}`);
}

describe('conditionsOf', () => {
  for (const [title, of, expected] of conditionCases) {
    it(title, () => {
      expect(conditions(of)).to.deep.equal(expected);
    });
  }

  for (const [title, of] of conditionCases) {
    it(`says what to do where all is not well: ${title}`, () => {
      for (const { type, status: is, reason, message } of publishedStatus(of).conditions) {
        const step = is === CONDITIONS[type].well ? '' : NEXT_STEPS[reason];
        if (is !== CONDITIONS[type].well) expect(step, `${type}/${reason}`).to.match(/^[A-Z]\w+ .*[^.]$/);
        expect(message.endsWith(step), `${type}: ${message}`).to.equal(true);
      }
    });
  }

  it('escapes control characters that a message quotes', () => {
    // E-25 k: the escapes of a terminal in a manifest reached whoever read its conditions.
    const faults = [{ path: 'spec.expression', message: 'has an unknown name \u001b[31mx\n' }];
    const input = resultOf(allowPolicy('p', 'app'), { unusable: faults });
    const said = conditionsOf(input)
      .map(({ message }) => message)
      .join();
    expect(said).to.contain('an unknown name \\x1b[31mx\\x0a');
  });

  it('says why an object is not Ready with the words of the condition that holds it back', () => {
    const [first] = publishedStatus(resultOf(client, { loses: 'default/older' })).conditions;
    expect(first?.message).to.equal(
      'default/older declares the same id and has it. Delete one of them; the other then gets the id',
    );
  });

  it('names the fields that have no effect, and says what to do where nothing serves ServiceAccounts', () => {
    const service_accounts = [{ namespace: 'shop', name: 'app' }];
    const grant_types = ['client_credentials', tokenExchange];
    const { conditions } = publishedStatus(
      resultOf(machineClient('app', { service_accounts, grant_types }), { secret: none }),
    );
    const message = (type: string) => conditions.find((one) => one.type === type)?.message;
    expect(message('NotInForce')).to.contain(`no effect in this version: spec.grant_types ${tokenExchange}`);
    expect(message('Ready')).to.match(/nothing here says who makes the tokens of ServiceAccounts.*Give jwks/);
  });

  it('uses every documented type of condition, and documents every reason with a sentence', () => {
    const used = new Set(conditionCases.flatMap(([, of]) => publishedStatus(of).conditions.map(({ type }) => type)));
    expect([...used]).to.have.members(Object.keys(CONDITIONS));
    for (const [reason, meaning] of Object.entries(REASONS)) expect(meaning, reason).to.match(/^[A-Z].*\.$/);
  });
});
