import type { ComponentChildren } from 'preact';
import { isObject } from '../../../crds/json-value.ts';
import type { JsonObject } from '../../../crds/json-value.ts';
import type { ApiPath } from '../connection/api-path.ts';
import { useUi } from '../context.ts';
import { usePageTitle } from '../page-title.ts';
import { goTo } from '../place.ts';
import type { Place } from '../place.ts';
import { Hindered } from '../record/hindered.tsx';
import { useFetched } from './use-fetched.ts';

/** Properties of {@link Detail}. */
export interface DetailProps {
  readonly tab: Place['tab'];
  /** Path of the record. */
  readonly path: ApiPath;
  /** Heading of a record; undefined while there is none. */
  readonly heading: (record: JsonObject | undefined) => string;
  readonly children: (record: JsonObject) => ComponentChildren;
}

/** A record that is only read, with the way back to the list of its tab. */
export function Detail({ tab, path, heading, children }: DetailProps) {
  const { say } = useUi();
  const { answer, reload } = useFetched(path);
  const record = answer?.kind === 'done' && isObject(answer.body) ? answer.body : undefined;
  const shownHeading = heading(record);
  usePageTitle(shownHeading);
  return (
    <section class="detail" aria-labelledby="heading">
      <button type="button" class="second back" onClick={() => goTo(tab)}>
        {say.backToList}
      </button>
      <h2 id="heading" tabIndex={-1}>
        {shownHeading}
      </h2>
      {answer === undefined ? (
        <p class="soft">{say.loading}</p>
      ) : (
        <Hindered answer={answer} method="GET" path={path} retry={reload} />
      )}
      {record === undefined ? null : children(record)}
    </section>
  );
}
