import { useUi } from '../context.ts';
import { TextField } from './field.tsx';

/** Properties of {@link OldPassword}. */
export interface OldPasswordProps {
  readonly value: string;
  readonly set: (text: string) => void;
  /** Undefined: the box has not asked for it so far. */
  readonly faults: readonly string[] | undefined;
}

/** The field for the password so far: only there once the box has asked for it. */
export function OldPassword({ value, set, faults }: OldPasswordProps) {
  const { say } = useUi();
  if (faults === undefined && value === '') return null;
  return (
    <TextField
      id="old_password"
      label={say.oldPassword}
      type="password"
      autocomplete="current-password"
      value={value}
      set={set}
      faults={faults}
    />
  );
}
