import { CONDITIONS, HOLDING_BACK, NEXT_STEPS, REASONS } from '../../operator/status/reasons.ts';

/**
 * Returns the page docs/reference/conditions.md: every condition type and every reason, with what people do about it.
 */
export function conditionsPage(): string {
  const types = Object.entries(CONDITIONS).map(([type, { well, means }]) => `| \`${type}\` | ${well} | ${means} |`);
  const reasons = Object.entries(REASONS).map(([reason, means]) => `| \`${reason}\` | ${means} | ${stepOf(reason)} |`);
  return [
    INTRODUCTION,
    TYPES,
    ['| condition | healthy | |', '| --- | --- | --- |', ...types].join('\n'),
    READERS,
    '## Reasons',
    ['| reason | what it means | what to do |', '| --- | --- | --- |', ...reasons].join('\n'),
  ]
    .join('\n\n')
    .concat('\n');
}

const INTRODUCTION = `# Conditions

<!-- Made from operator/status/reasons.ts by \`make generate\`. Do not edit. -->

The status of each Client, AccessPolicy, Group and Box has conditions: \`kubectl describe\` shows them in a cluster, \`boxgate dev\`
prints them. Each condition has a reason of the list below. If something is wrong, its message ends with the next step.`;

const TYPES = `## Types

*absent*: the condition exists only if it is True. These hold \`Ready\` back while they are not healthy:
${HOLDING_BACK.map((type) => `\`${type}\``).join(', ')}. The others inform only.`;

const READERS = `\`kubectl wait --for=condition=Ready\` returns when every replica of the API enforces what is declared. A fresh object has
\`observedGeneration: -1\` and no condition, so no tool considers it healthy before the operator has seen it. For tools that read
statuses as kstatus does (Flux, kpt), an object is in progress until it is Ready, and failed if it is \`Stalled\`; a
suspended one stays in progress.`;

function stepOf(reason: string): string {
  const step = Object.entries(NEXT_STEPS).find(([name]) => name === reason)?.[1] ?? '';
  return step === '' ? '' : `${step.replaceAll('<', '&lt;')}.`;
}
