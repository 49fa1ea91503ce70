import type { ComponentChildren } from 'preact';

/** Properties of {@link BusyButton}. */
export interface BusyButtonProps {
  /** True while a request is under way that a click would repeat or disturb. */
  readonly isBusy: boolean;
  /** Absent: the button submits its form. */
  readonly onClick?: () => void;
  readonly class?: string;
  /** ID of the element that describes the button. */
  readonly describedBy?: string;
  readonly children: ComponentChildren;
}

/**
 * A button that ignores clicks while a request is under way. It is never disabled, because a disabled button loses the
 * focus.
 */
export function BusyButton({ isBusy, onClick, class: style, describedBy, children }: BusyButtonProps) {
  return (
    <button
      type={onClick === undefined ? 'submit' : 'button'}
      class={style}
      aria-disabled={isBusy}
      aria-describedby={describedBy}
      onClick={(event) => {
        // Otherwise the form is submitted, also with Enter in a field: the browser then clicks its button.
        if (isBusy) event.preventDefault();
        else onClick?.();
      }}
    >
      {children}
    </button>
  );
}
