import { expect } from 'chai';
import { boxByBox } from '../../../tools/bench/stored-boxes.ts';

describe('the boxes of the bench', () => {
  it('take turns: each client once, and a client of every box before the second of any', () => {
    const boxes = ['a', 'b', 'c'];
    const clients = boxes.flatMap((box) => ['1', '2'].map((id) => ({ box, client: { id, secret: '' } })));
    const order = boxByBox(clients, 2).map(({ box, client }) => `${box}${client.id}`);
    expect(order).to.deep.equal(['a1', 'b1', 'c1', 'a2', 'b2', 'c2']);
  });
});
