/** Values of the options of a command line, by the option's name without dashes. */
export type OptionValues = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
