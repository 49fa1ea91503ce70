import { useEffect } from 'preact/hooks';
import { useUi } from './context.ts';

/** Sets the title of the page to a heading and the name of the box (WCAG 2.4.2); undefined leaves it unchanged. */
export function usePageTitle(heading: string | undefined): void {
  const { name } = useUi();
  useEffect(() => {
    if (heading !== undefined) document.title = `${heading} · ${name}`;
  }, [heading, name]);
}
