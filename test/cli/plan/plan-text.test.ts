import { expect } from 'chai';
import { planText } from '../../../api/cli/plan.ts';

describe('the text of a plan', () => {
  it('has as many rows as there are changes, however many', () => {
    const change = { kind: 'Client', id: 'orders', result: 'created' } as const;
    const nothing = { secrets: [], secrets_not_compared: [], sessions: [], more_sessions: false, decisions: [] };
    const text = planText({
      ...nothing,
      box: 'shop',
      resources: Array.from({ length: 200_000 }, () => change),
      compared: { given: 0, recorded: 0 },
    });
    expect(text.split('\n  + created   Client/orders')).to.have.length(200_001);
  });
});
