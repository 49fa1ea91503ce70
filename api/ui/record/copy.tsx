import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useUi } from '../context.ts';

/** Copies a text to the clipboard, and says so in its own place. */
function CopyButton({ label, text }: { readonly label: string; readonly text: string }) {
  const { say } = useUi();
  const [copied, setCopied] = useState<string>();
  return (
    <button
      type="button"
      class="second copy"
      aria-label={say.copyOf(label)}
      onClick={() => {
        navigator.clipboard.writeText(text).then(
          () => setCopied(text),
          () => undefined,
        );
      }}
    >
      <span aria-live="polite">{copied === text ? say.copied : say.copy}</span>
    </button>
  );
}

/** A value that is shown to be copied. */
export function CopyField({
  id,
  label,
  value,
}: {
  readonly id: string;
  readonly label: string;
  readonly value: string;
}) {
  return (
    <div class="copy-field">
      <label for={id}>{label}</label>
      <div>
        <input id={id} type="text" readOnly value={value} onFocus={(event) => event.currentTarget.select()} />
        <CopyButton label={label} text={value} />
      </div>
    </div>
  );
}

/** Text of several lines that is shown to be copied; `children` stand above it. */
export function CopyText(props: {
  readonly label: string;
  readonly text: string;
  readonly children?: ComponentChildren;
}) {
  const { label, text, children } = props;
  return (
    <div class="copy-text">
      <div class="copy-head">
        {children}
        <CopyButton label={label} text={text} />
      </div>
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
    </div>
  );
}
