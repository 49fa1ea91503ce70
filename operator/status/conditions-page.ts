import { CONDITIONS, NEXT_STEPS, REASONS } from './reasons.ts';

/** Returns the page docs/conditions.md: every condition type and every reason, with what people do about it. */
export function conditionsPage(): string {
  const types = Object.entries(CONDITIONS).map(([type, { well, means }]) => `| \`${type}\` | ${well} | ${means} |`);
  const reasons = Object.entries(REASONS).map(([reason, means]) => `| \`${reason}\` | ${means} | ${stepOf(reason)} |`);
  return [
    INTRODUCTION,
    TYPES,
    ['| condition | all is well | |', '| --- | --- | --- |', ...types].join('\n'),
    READERS,
    '## Reasons',
    ['| reason | what it means | what to do |', '| --- | --- | --- |', ...reasons].join('\n'),
  ]
    .join('\n\n')
    .concat('\n');
}

const INTRODUCTION = `# Conditions

<!-- Made from operator/status/reasons.ts by \`make generate\`. Do not edit. -->

The status of each Client, AccessPolicy, Group and Box says how far it is: \`kubectl describe\` shows it in a cluster, \`boxgate dev\`
prints it. A condition has a reason of the list below, and where all is not well its message ends with what to do.`;

const TYPES = `## Types

*absent*: the condition stands only where there is something to say, and is True then.`;

const READERS = `\`kubectl wait --for=condition=Ready\` returns when every replica of the API enforces what is declared. A fresh object has
\`observedGeneration: -1\` and no condition, so nobody takes it for healthy before somebody has looked at it. Tools that read
statuses as kstatus does (Flux, kpt) see an object in progress until it is Ready, and failed where it is \`Stalled\`; one that is
suspended stays in progress.`;

function stepOf(reason: string): string {
  const step = Object.entries(NEXT_STEPS).find(([name]) => name === reason)?.[1] ?? '';
  return step === '' ? '' : `${step.replaceAll('<', '&lt;')}.`;
}
