/** Formats a time of the API for people in their own time zone; '' for none. */
export function timeText(time: string, language: string): string {
  if (time === '') return '';
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
  return format.format(new Date(time));
}
