import { expect } from 'chai';
import { changedFiles, readSources } from './mutant-sources.ts';
import { readMutants } from './mutant-tables.ts';
import { filesOfTheTree } from './tree.ts';

describe('the tables of make mutants', () => {
  it('fit the code as it is: each text to find occurs exactly once', () => {
    const tree = filesOfTheTree();
    const sources = readSources(tree);
    const faults = readMutants('test/mutants', tree).flatMap(({ name, changes }) => {
      try {
        return changedFiles(sources, changes).size > 0 ? [] : [`${name}: changes no file`];
      } catch (error) {
        return [`${name}: ${String(error)}`];
      }
    });
    expect(faults).to.deep.equal([]);
  });
});
