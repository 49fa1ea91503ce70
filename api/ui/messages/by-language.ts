import { german } from './de.ts';
import { english } from './messages.ts';
import type { Messages } from './messages.ts';

/** The texts by language. */
export const messages: Readonly<Record<'en' | 'de', Messages>> = { en: english, de: german };
