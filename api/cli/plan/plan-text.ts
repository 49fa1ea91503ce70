import { plainText } from '../../../process/plain-text.ts';
import type { PlanAnswer } from '../../client/plan.ts';
import { widthsOf } from '../output.ts';
import { planReport, planSummary, type ReportPart } from './plan-report.ts';

/** Returns a plan as text for a terminal; control characters of the data are escaped. */
export function planText(answer: PlanAnswer): string {
  return [`${planSummary(answer)}\n`, ...planReport(answer).map(textPart)].join('\n');
}

function textPart({ heading, columns, rows }: ReportPart): string {
  const cells = rows.map((row) => row.map(plainText));
  const widths = widthsOf(columns, cells);
  const lines = cells.map((row) => `  ${row.map((cell, nth) => cell.padEnd(widths[nth] ?? 0)).join('   ')}`.trimEnd());
  return `${heading}:\n${lines.join('\n')}\n`;
}

/** Returns a plan in Markdown, for a comment on a pull request. */
export function planMarkdown(answer: PlanAnswer): string {
  const parts = planReport(answer).map(markdownPart);
  return [`### Access plan\n\n${cellText(planSummary(answer))}\n`, ...parts].join('\n');
}

function markdownPart({ heading, columns, rows }: ReportPart): string {
  const lines = [columns, columns.map(() => '---'), ...rows.map((row) => row.map(cellText))];
  return `#### ${heading}\n\n${lines.map((line) => `| ${line.join(' | ')} |\n`).join('')}`;
}

/** Escapes a text so that it is shown as it is, whatever Markdown or HTML it holds. */
function cellText(text: string): string {
  return plainText(text).replaceAll(/[\\`*_{}[\]<>()#|!~@&]/g, '\\$&');
}
