/** The parts that every decision has, in this order. */
export const decisionParts = ['Context', 'Decision', 'Consequences', 'Rejected'] as const;

/** The most lines a decision may have: a page under a screen. */
const longest = 60;

/** Returns the faults of the decision files' names: gaps, duplicates, other forms. */
export function faultsOfNumbers(names: readonly string[]): string[] {
  const numbers = names.map((name) => /^(\d{4})-[a-z0-9-]+\.md$/.exec(name)?.[1] ?? `not NNNN-some-words.md: ${name}`);
  const faults = numbers.filter((number, index) => number.startsWith('not') || numbers.indexOf(number) !== index);
  return [...faults, ...gaps(numbers.map(Number).filter((number) => !Number.isNaN(number)))];
}

/** Pages are numbered from 1 on. */
function gaps(numbers: readonly number[]): string[] {
  return numbers
    .filter((number) => number !== 1 && !numbers.includes(number - 1))
    .map((number) => `no page before ${number}`);
}

/** Returns the faults of a decision's page. */
export function faultsOfPage(name: string, text: string): string[] {
  const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  const faults: string[] = [];
  if (!text.startsWith(`# ${Number(name.slice(0, 4))}. `)) faults.push('the title begins with its number');
  if (headings.join() !== decisionParts.join()) faults.push(`has the parts ${headings.join(', ')}`);
  if (text.split('\n').length > longest) faults.push(`is longer than ${longest} lines`);
  return faults.map((fault) => `${name}: ${fault}`);
}

/** The packages that the tables of a page have a line for. */
export function packagesInTables(text: string): string[] {
  const cells = [...text.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}
