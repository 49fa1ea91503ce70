import type { Link } from '../schemas/bundle.ts';
import type { Explanation } from '../schemas/explanation.ts';
import type { GrantView } from '../schemas/grant.ts';
import type { GroupView } from '../schemas/group.ts';
import type { PolicyUsage } from '../schemas/policy-usage.ts';
import type { SessionView } from '../schemas/session.ts';
import type { AccessPolicyView, ClientView } from '../schemas/stored.ts';
import type { OperationOutcome } from '../schemas/problems.ts';
import type { ListedUser, UserFaults, UserView } from '../schemas/user.ts';

/** Resources by the first part of their path, as the schemas of the API describe them. */
interface Resources {
  readonly Client: ClientView;
  readonly AccessPolicy: AccessPolicyView;
  readonly Session: SessionView;
  readonly Group: GroupView;
  readonly Grant: GrantView;
  readonly users: UserView;
}

/** Answers of operations that are no resources, by path. */
interface Operations {
  readonly '/AccessPolicy/$explain': Explanation;
  readonly '/AccessPolicy/$usage': PolicyUsage;
}

/** One page of a search. */
export interface Bundle<Resource> {
  readonly total?: number;
  readonly link: readonly Link[];
  readonly entry: readonly { readonly resource: Resource }[];
}

/** Path without its query. */
type WithoutQuery<Path extends string> = Path extends `${infer Before}?${string}` ? Before : Path;

/** Body of a list: users are always a plain list, other resources if the query says so. */
type ListAt<Name extends keyof Resources, Path extends string> = Name extends 'users'
  ? readonly ListedUser[]
  : Path extends `${string}_result=array${string}`
    ? readonly Resources[Name][]
    : Bundle<Resources[Name]> | readonly Resources[Name][];

/** Body of an answer by the path without its query, which may be a template such as `/users/${string}`. */
type BodyAt<Method extends string, Path extends string, Whole extends string> = Path extends keyof Operations
  ? Operations[Path]
  : Path extends `/${infer Name}/${string}`
    ? Name extends keyof Resources
      ? // A DELETE of what is not there has no body.
        Method extends 'DELETE'
        ? Resources[Name] | undefined
        : Resources[Name]
      : unknown
    : Path extends `/${infer Name}`
      ? Name extends keyof Resources
        ? Method extends 'GET'
          ? ListAt<Name, Whole>
          : Resources[Name]
        : unknown
      : unknown;

/**
 * Body of the answer to an accepted request, from its method and path; `unknown` for a path that is not known when it
 * is compiled. The schemas are those of the OpenAPI document, with which every response of the tests is compared.
 */
export type AnswerTo<Method extends string, Path extends string> = BodyAt<Method, WithoutQuery<Path>, Path>;

/** Body of a 422: every fault of what was sent. */
export type FaultsAt<Path extends string> = Path extends `/users${string}` ? UserFaults : OperationOutcome;
